import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";
import { type CallFilter, calls } from "../api/queries.ts";
import type { Call } from "../api/types.ts";
import { StateBadge } from "../look/badge.tsx";
import { Empty, Shown } from "../look/states.tsx";
import { duration, Moment } from "../look/time.tsx";

const route = getRouteApi("/calls");
const FIELDS = [
  ["tool", "tool"],
  ["caller", "caller"],
  ["code", "code"],
  ["id", "id begins with"],
] as const satisfies readonly (readonly [keyof CallFilter, string])[];

export function CallsPage() {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const asked = useQuery(calls(filter));
  const narrow = (field: keyof CallFilter, value: string) =>
    void navigate({ search: (before) => ({ ...before, [field]: value || undefined }), replace: true });
  return (
    <>
      <h1>Calls</h1>
      <search className="row">
        {FIELDS.map(([field, name]) => (
          <label key={field} className="field">
            <span className="quiet">{name}</span>
            <input value={filter[field] ?? ""} onChange={({ target }) => narrow(field, target.value)} />
          </label>
        ))}
      </search>
      <Shown of={asked}>
        {({ calls: found, more }) =>
          found.length === 0 ? (
            <Empty>No call is like that. Calls of callers without a shared journal are not listed.</Empty>
          ) : (
            <>
              <Rows calls={found} />
              {more ? <p className="quiet">Only the newest {found.length} are shown: narrow the search.</p> : null}
            </>
          )
        }
      </Shown>
    </>
  );
}

/** The height of a row, the same as in the style sheet. */
const ROW_PIXELS = 40;

/** However many there are, only those in view are drawn. */
function Rows({ calls: found }: { readonly calls: readonly Call[] }) {
  const place = useRef<HTMLElement>(null);
  const rows = useVirtualizer({
    count: found.length,
    getScrollElement: () => place.current,
    estimateSize: () => ROW_PIXELS,
    getItemKey: (index) => found[index]?.toolCallId ?? index,
    overscan: 12,
  });
  const shown = rows.getVirtualItems();
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
  const [first, last] = [call.steps[0]?.at, call.steps.at(-1)?.at];
  return (
    <Link to="/calls/$id" params={{ id: call.toolCallId }} className="call-row">
      <span>{first === undefined ? null : <Moment at={first} />}</span>
      <span title={call.toolName}>{call.toolName}</span>
      <span title={call.caller}>{call.onBehalfOf ?? call.caller}</span>
      <span>
        <StateBadge call={call} />
      </span>
      <span className="number">{first === undefined || last === undefined ? "" : duration(last - first)}</span>
    </Link>
  );
}
