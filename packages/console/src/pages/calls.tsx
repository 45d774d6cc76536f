import { getRouteApi, Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useRef } from "react";
import type { CallFilter } from "../api/queries.ts";
import type { Call } from "../api/types.ts";
import { StateBadge } from "../look/badge.tsx";
import { Empty, Shown } from "../look/states.tsx";
import { duration, Moment } from "../look/time.tsx";
import { TimeField } from "../look/time-field.tsx";
import { MAX_ROWS, startOf, useCalls } from "./use-calls.ts";

const route = getRouteApi("/calls");
const FIELDS = [
  ["tool", "tool"],
  ["caller", "caller"],
  ["code", "code"],
  ["session", "session"],
  ["id", "id begins with"],
] as const satisfies readonly (readonly [keyof CallFilter, string])[];
const TIMES = ["after", "before"] as const;
const MINUTE_MS = 60_000;
const SPANS = [
  ["15 min", 15],
  ["hour", 60],
  ["day", 24 * 60],
] as const;
const STATES = ["open", "answered", "failed", "cancelled", "timed_out", "unknown"] as const;

export function CallsPage() {
  const filter = route.useSearch();
  const found = useCalls(filter);
  return (
    <>
      <h1>Calls</h1>
      <Search filter={filter} />
      {found.isPartial ? (
        <p role="alert" className="is-warn">
          Redis does not answer. Only the calls of this gateway's process are shown.
        </p>
      ) : null}
      <Shown of={found.asked}>
        {(calls) => (
          <>
            {calls.length === 0 ? (
              <Empty>
                {found.hasOlder
                  ? "None of the newest calls is like that."
                  : "No call of the last day is like that. Calls of callers without a journal in the gateway's Redis are not listed: services record them in their audit logs only."}
              </Empty>
            ) : (
              <Rows calls={calls} onEnd={found.hasOlder ? found.readOlder : undefined} />
            )}
            <p className="quiet" aria-live="polite">
              {calls.length >= MAX_ROWS ? `The newest ${MAX_ROWS} calls. Narrow the search for others. ` : null}
              {found.hasOlder ? (
                <button type="button" disabled={found.isLoading} onClick={() => void found.readOlder()}>
                  {found.isLoading ? "Looking further back…" : "Look further back"}
                </button>
              ) : null}
            </p>
          </>
        )}
      </Shown>
    </>
  );
}

function Search({ filter }: { readonly filter: CallFilter }) {
  const navigate = route.useNavigate();
  const narrow = (field: keyof CallFilter, value: string | number | undefined) =>
    void navigate({ search: (before) => ({ ...before, [field]: value || undefined }), replace: true });
  const last = (minutes: number) =>
    void navigate({
      search: ({ before: _, ...others }) => ({ ...others, after: Date.now() - minutes * MINUTE_MS }),
      replace: true,
    });
  return (
    <search className="search">
      <p className="row whole">
        <span className="quiet">only the last</span>
        {SPANS.map(([name, minutes]) => (
          <button key={name} type="button" onClick={() => last(minutes)}>
            {name}
          </button>
        ))}
      </p>
      {FIELDS.map(([field, name]) => (
        <label key={field} className="field">
          <span className="quiet">{name}</span>
          <input value={filter[field] ?? ""} maxLength={256} onChange={({ target }) => narrow(field, target.value)} />
        </label>
      ))}
      <label className="field">
        <span className="quiet">state</span>
        <select value={filter.state ?? ""} onChange={({ target }) => narrow("state", target.value)}>
          <option value="">any</option>
          {STATES.map((state) => (
            <option key={state} value={state}>
              {state === "open" ? "running, or waiting" : state.replace("_", " ")}
            </option>
          ))}
        </select>
      </label>
      {TIMES.map((field) => (
        <TimeField key={field} name={field} at={filter[field]} onChange={(at) => narrow(field, at)} />
      ))}
    </search>
  );
}

const narrow = matchMedia("(max-width: 720px)");
/** The height of a row, the same as in the style sheet. */
const rowPixels = (): number => (narrow.matches ? 60 : 40);

/** However many there are, only those in view are drawn. */
function Rows({
  calls: found,
  onEnd,
}: {
  readonly calls: readonly Call[];
  readonly onEnd: (() => Promise<void>) | undefined;
}) {
  const place = useRef<HTMLElement>(null);
  // Another function would have all rows measured anew, with each key that is pressed.
  const keyAt = useCallback((index: number) => `${found[index]?.caller} ${found[index]?.toolCallId}`, [found]);
  const rows = useVirtualizer({
    count: found.length,
    getScrollElement: () => place.current,
    estimateSize: rowPixels,
    getItemKey: keyAt,
    overscan: 12,
  });
  const shown = rows.getVirtualItems();
  const isAtEnd = (shown.at(-1)?.index ?? -1) === found.length - 1;
  const isScrolled = (rows.scrollOffset ?? 0) > 0;
  useEffect(() => {
    if (isAtEnd && isScrolled) void onEnd?.();
  }, [isAtEnd, isScrolled, onEnd]);
  return (
    <section className="card flush">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keys */}
      <section className="rows" ref={place} tabIndex={0} aria-label={`${found.length} calls`}>
        <div className="head-row">
          <span>made</span>
          <span>tool</span>
          <span>caller</span>
          <span>end</span>
          <span className="number">took</span>
        </div>
        <div style={{ height: shown[0]?.start ?? 0 }} />
        {shown.map(({ index, key }) => {
          const call = found[index];
          return call === undefined ? null : <Row key={key} call={call} />;
        })}
        <div style={{ height: rows.getTotalSize() - (shown.at(-1)?.end ?? 0) }} />
      </section>
    </section>
  );
}

function Row({ call }: { readonly call: Call }) {
  const [first, last] = [startOf(call), call.steps.at(-1)?.at];
  return (
    <Link to="/calls/$id" params={{ id: call.toolCallId }} className="call-row">
      <span>
        <Moment at={first} />
      </span>
      <span title={call.toolName}>{call.toolName}</span>
      <span title={call.caller}>{call.onBehalfOf ?? call.caller}</span>
      <span>
        <StateBadge call={call} />
      </span>
      <span className="number">{last === undefined ? "" : duration(last - first)}</span>
    </Link>
  );
}
