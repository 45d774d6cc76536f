import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { me } from "../api/queries.ts";
import type { WaitingCall } from "../api/types.ts";
import { waitingCalls } from "../api/waiting.ts";
import { Badge } from "../look/badge.tsx";
import { Needs } from "../look/needs.tsx";
import { Empty, Shown } from "../look/states.tsx";
import { Moment } from "../look/time.tsx";
import { visible } from "../look/visible.ts";
import { whoIsAsked } from "./waiting/words.ts";

export function WaitingPage() {
  const { data: who } = useQuery(me);
  return (
    <>
      <h1>Waiting</h1>
      <p className="quiet">Calls that run only once people have approved them, or have answered what a tool asks.</p>
      {who === undefined ? null : (
        <Needs right="decide" of={who}>
          <List />
        </Needs>
      )}
    </>
  );
}

function List() {
  const asked = useQuery(waitingCalls);
  return (
    <Shown of={asked}>
      {({ calls, more, problems }) => (
        <>
          {problems.map((words) => (
            <p key={words} role="alert" className="is-warn breaks">
              {words}
            </p>
          ))}
          {calls.length === 0 ? <Empty>Nothing waits{problems.length > 0 ? " that is known here" : ""}.</Empty> : null}
          {calls.length === 0 ? null : <Rows calls={calls} />}
          {more ? <p className="quiet">More wait. They come up once these are decided.</p> : null}
        </>
      )}
    </Shown>
  );
}

function Rows({ calls }: { readonly calls: readonly WaitingCall[] }) {
  return (
    <div className="card flush">
      <table className="stacks" aria-label="Calls that wait">
        <thead>
          <tr>
            <th>call</th>
            <th>caller</th>
            <th>who is asked</th>
            <th>since</th>
            <th>until</th>
            <th>decisions so far</th>
          </tr>
        </thead>
        <tbody>
          {calls.map((call) => (
            <tr key={call.id}>
              <td className="breaks">
                <Link to="/waiting/$id" params={{ id: call.id }}>
                  {visible(call.tool)}
                </Link>{" "}
                <Badge tone="quiet">{call.kind}</Badge>
                {call.hasReadUntrusted ? <div className="is-warn">content of strangers led to it</div> : null}
                {call.question === undefined ? null : (
                  <div className="quiet two-lines">{visible(call.question.message)}</div>
                )}
              </td>
              <td className="breaks">{visible(call.caller)}</td>
              <td className="breaks">{whoIsAsked(call)}</td>
              <td>
                <span className="narrow quiet">since </span>
                <Moment at={call.createdAt} />
              </td>
              <td>
                <span className="narrow quiet">until </span>
                <Moment at={call.expiresAt} />
              </td>
              <td className="breaks">
                {call.decisions.map(({ operator, verdict }) => `${operator}: ${verdict}`).join(", ") || "none"}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
