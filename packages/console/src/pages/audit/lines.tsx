import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { type AuditFilter, auditLines } from "../../api/audit.ts";
import type { AuditLine } from "../../api/types.ts";
import { Empty, Shown } from "../../look/states.tsx";
import { Told } from "../../look/time.tsx";
import { Said } from "./said.tsx";

/** A page shows no more lines than this: a search narrows them. */
const MAX_ROWS = 5_000;
/** Where a search finds less than this, it looks further back by itself, a few times. */
const FEW = 20;
const MAX_LOOKS = 4;

/** The lines that fit a search, the newest first. */
export function Lines({ filter, time }: { readonly filter: AuditFilter; readonly time: number }) {
  const asked = useInfiniteQuery(auditLines(filter, time));
  const { data, error, hasNextPage, isFetching, fetchNextPage } = asked;
  const pages = data?.pages ?? [];
  const lines = pages.flatMap((page) => page.lines);
  const isFew = hasNextPage && !isFetching && error === null && lines.length < FEW && pages.length <= MAX_LOOKS;
  useEffect(() => {
    if (isFew) void fetchNextPage();
  }, [isFew, fetchNextPage]);
  const isFull = lines.length >= MAX_ROWS;
  return (
    <Shown of={asked}>
      {() => (
        <>
          <Said problems={[...new Set(pages.flatMap(({ problems }) => problems))]} />
          {pages.every(({ hasHashes }) => hasHashes) ? null : (
            <p className="quiet">
              Hashes of arguments are left out: “arguments” is missing under “sees” of your entry in the policy.
            </p>
          )}
          {lines.length > 0 ? (
            <Table lines={lines} />
          ) : (
            <Empty>No line {hasNextPage ? "so far" : "of these logs"} is like that.</Empty>
          )}
          <p className="quiet" aria-live="polite">
            {isFull ? `The newest ${lines.length} lines. Narrow the search for others. ` : null}
            {hasNextPage && !isFull ? (
              <button type="button" disabled={isFetching} onClick={() => void fetchNextPage()}>
                {isFetching ? "Looking further back…" : "Look further back"}
              </button>
            ) : null}
          </p>
        </>
      )}
    </Shown>
  );
}

const Table = ({ lines }: { readonly lines: readonly AuditLine[] }) => (
  <section className="card flush" aria-label="audit lines">
    <table className="stacks">
      <thead>
        <tr>
          <th>time</th>
          <th>who</th>
          <th>what</th>
          <th>end</th>
          <th>service</th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line) => (
          <LineRow key={`${line.log} ${line.hash}`} line={line} />
        ))}
      </tbody>
    </table>
  </section>
);

const text = (value: unknown): string => (value === undefined || value === null ? "" : String(value));

function LineRow({ line }: { readonly line: AuditLine }) {
  const [isOpen, setOpen] = useState(false);
  const { caller, operator, by, address, tool, event, action, decision, outcome, count, service } = line.fields;
  const who = [caller ?? by ?? address, operator].flatMap((name) => (name === undefined ? [] : [text(name)]));
  return (
    <>
      <tr>
        <td>
          <Told time={line.time} />
        </td>
        <td className="breaks">{who.join(", by ")}</td>
        <td className="breaks">
          <button type="button" className="plain" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {text(tool ?? action ?? event) || "line"}
          </button>
        </td>
        <td className="breaks">
          <span className={outcome === undefined || outcome === "ok" ? "quiet" : "is-warn"}>
            {[text(outcome), decision === "denied" ? "denied" : "", count === undefined ? "" : `${text(count)} times`]
              .filter((words, index, all) => words !== "" && all.indexOf(words) === index)
              .join(", ")}
          </span>
        </td>
        <td className="breaks">{text(service) || line.service}</td>
      </tr>
      {isOpen ? (
        <tr>
          <td colSpan={5}>
            <Whole line={line} />
          </td>
        </tr>
      ) : null}
    </>
  );
}

/** A line as it stands. Its call is at its page as long as a journal has it. */
function Whole({ line: { service, log, fields, ...place } }: { readonly line: AuditLine }) {
  const { toolCallId: id } = fields;
  return (
    <>
      <pre>{JSON.stringify({ ...place, ...fields }, undefined, 2)}</pre>
      <p className="quiet">
        Told by {service}, of the log {log}.{" "}
        {typeof id === "string" ? (
          <Link to="/calls/$id" params={{ id }}>
            The call
          </Link>
        ) : null}
      </p>
    </>
  );
}
