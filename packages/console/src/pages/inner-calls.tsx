import { Link } from "@tanstack/react-router";
import type { Call } from "../api/types.ts";
import { StateBadge } from "../look/badge.tsx";
import { duration } from "../look/time.tsx";

/** The call that led to this one, and the calls that it led to, as a tree. */
export function InnerCalls({
  call,
  inner,
  isWhole,
}: {
  readonly call: Call;
  readonly inner: readonly Call[];
  readonly isWhole: boolean;
}) {
  if (call.parent === undefined && inner.length === 0) return null;
  return (
    <section className="card">
      <h2>Nested calls</h2>
      {call.parent === undefined ? null : (
        <p>
          The call{" "}
          <Link to="/calls/$id" params={{ id: call.parent }} className="breaks">
            {call.parent}
          </Link>{" "}
          led to this one.
        </p>
      )}
      <Branch of={call.toolCallId} inner={inner} />
      {isWhole ? null : <p className="quiet">These are not all: there are more than are shown here.</p>}
    </section>
  );
}

function Branch({ of, inner }: { readonly of: string; readonly inner: readonly Call[] }) {
  const own = inner.filter(({ parent }) => parent === of);
  if (own.length === 0) return null;
  return (
    <ul className="tree">
      {own.map((call) => (
        <li key={call.toolCallId}>
          <Link to="/calls/$id" params={{ id: call.toolCallId }}>
            {call.toolName}
          </Link>{" "}
          <StateBadge call={call} /> <span className="quiet">{took(call)}</span>
          <Branch of={call.toolCallId} inner={inner} />
        </li>
      ))}
    </ul>
  );
}

const took = ({ steps }: Call): string => duration((steps.at(-1)?.at ?? 0) - (steps[0]?.at ?? 0));
