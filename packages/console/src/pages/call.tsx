import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { call as callQuery, me } from "../api/queries.ts";
import { ask } from "../api/session.ts";
import type { Call } from "../api/types.ts";
import { StateBadge, toneOf } from "../look/badge.tsx";
import { Copy } from "../look/copy.tsx";
import { Shown } from "../look/states.tsx";
import { duration, Moment } from "../look/time.tsx";

const route = getRouteApi("/calls/$id");

/** What each step of a call means to its caller. */
const WORDS: Readonly<Record<string, string>> = {
  asked: "Asked: the caller made it",
  accepted: "Accepted: the bus has taken responsibility for it",
  running: "Running: its progress has been seen",
  resumed: "Resumed: a restarted caller took it up again",
  answered: "Answered",
  failed: "Failed",
  cancelled: "Cancelled by its caller",
  timed_out: "Timed out: no answer came by the deadline",
  unknown: "Unknown: it may have run, and its outcome is lost",
  late_answer: "An answer came after the end",
};

export function CallPage() {
  const { id } = route.useParams();
  const asked = useQuery(callQuery(id));
  return (
    <>
      <div className="head">
        <h1>Call</h1>
        <code>{id}</code>
      </div>
      <Shown of={asked}>
        {(call) =>
          call === null ? (
            <p>
              No journal that this gateway reads has this call: it is older than a day, or its caller keeps no shared
              journal.
            </p>
          ) : (
            <Found call={call} />
          )
        }
      </Shown>
    </>
  );
}

function Found({ call }: { readonly call: Call }) {
  const { data: who } = useQuery(me);
  const cache = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => ask(`/operator/calls/${encodeURIComponent(call.toolCallId)}/cancel`, { method: "POST" }),
    onSettled: () => cache.invalidateQueries({ queryKey: ["call", call.toolCallId] }),
  });
  const isOpen = toneOf(call) === "quiet";
  return (
    <>
      <section className="card figures">
        <div>
          <span className="quiet">tool</span>
          <br />
          <Link to="/tools/$name" params={{ name: call.toolName }}>
            {call.toolName}
          </Link>
        </div>
        <div>
          <span className="quiet">caller</span>
          <br />
          <Link to="/calls" search={{ caller: call.onBehalfOf ?? call.caller }}>
            {call.onBehalfOf ?? call.caller}
          </Link>
          {call.onBehalfOf === undefined ? null : <span className="quiet"> by {call.caller}</span>}
        </div>
        <div>
          <span className="quiet">end</span>
          <br />
          <StateBadge call={call} />
        </div>
        <div>
          <span className="quiet">attempts</span>
          <br />
          {call.attempts}
        </div>
        <div>
          <span className="quiet">policy's revision</span>
          <br />
          <code>{call.policy ?? "unknown"}</code>
        </div>
        <div>
          <span className="quiet">deadline</span>
          <br />
          <Moment at={call.deadlineAt} />
        </div>
      </section>
      <div className="row">
        {isOpen && who?.operator.may.includes("cancel") === true ? (
          <button type="button" className="bad" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel
          </button>
        ) : null}
        <Copy text={`./rockbot calls show ${call.toolCallId}`} name="Copy as command" />
        <Copy text={curl(call.toolCallId)} name="Copy as curl" />
      </div>
      {cancel.error === null ? null : (
        <p role="alert" className="is-bad">
          {cancel.error.message}
        </p>
      )}
      <Timeline call={call} />
    </>
  );
}

const curl = (id: string): string =>
  `curl -s -H "authorization: Bearer $OPERATOR_TOKEN" ${location.origin}/operator/calls/${encodeURIComponent(id)}`;

function Timeline({ call }: { readonly call: Call }) {
  const start = call.steps[0]?.at ?? 0;
  const last = call.steps.length - 1;
  const endClass = { good: "is-good", bad: "is-bad", warn: "is-warn", quiet: "quiet" }[toneOf(call)];
  return (
    <section className="card">
      <h2>What happened</h2>
      <ol className="timeline">
        {call.steps.map(({ step, at }, index) => (
          <li key={index} className={index === last ? endClass : "quiet"}>
            {index === 0 ? <Moment at={at} /> : <time>+{duration(at - start)}</time>}
            <div>
              {WORDS[step] ?? step}
              {index === last && call.code !== undefined ? (
                <>
                  {": "}
                  <code>{call.code}</code>
                </>
              ) : null}
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}
