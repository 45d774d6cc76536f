import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { call as callQuery, keptTexts, me } from "../api/queries.ts";
import { ask } from "../api/session.ts";
import type { Call, CallWithInner, Me } from "../api/types.ts";
import { StateBadge, toneOf } from "../look/badge.tsx";
import { Copy } from "../look/copy.tsx";
import { lacks } from "../look/needs.tsx";
import { Shown } from "../look/states.tsx";
import { Moment } from "../look/time.tsx";
import { visible } from "../look/visible.ts";
import { CallAgain } from "./call-again.tsx";
import { InnerCalls } from "./inner-calls.tsx";
import { Texts } from "./texts.tsx";
import { Timeline, whoAnswered } from "./timeline.tsx";

const route = getRouteApi("/calls/$id");

export function CallPage() {
  const { id } = route.useParams();
  const asked = useQuery(callQuery(id));
  return (
    <>
      <div className="head">
        <h1>Call</h1>
        <code className="breaks">{id}</code>
      </div>
      <Shown of={asked}>
        {({ call, ...inner }) =>
          call === null ? (
            <p>
              No journal that this gateway reads has this call: it is older than a day, others pushed it out, or its
              caller keeps no journal in the gateway's Redis.
            </p>
          ) : (
            <Found call={call} {...inner} />
          )
        }
      </Shown>
    </>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <span className="quiet">{name}</span>
    <br />
    {children}
  </div>
);

function Found({ call, inner, isWhole }: Omit<CallWithInner, "call"> & { readonly call: Call }) {
  return (
    <>
      <Failure call={call} />
      <section className="card figures">
        <Fact name="tool">
          <Link to="/tools/$name" params={{ name: call.toolName }}>
            {call.toolName}
          </Link>
        </Fact>
        <Fact name="caller">
          <Link to="/calls" search={{ caller: call.onBehalfOf ?? call.caller }}>
            {call.onBehalfOf ?? call.caller}
          </Link>
          {call.onBehalfOf === undefined ? null : <span className="quiet"> by {call.caller}</span>}
        </Fact>
        <Fact name="end">
          <StateBadge call={call} />
        </Fact>
        <Fact name="service">{call.service ?? "unknown"}</Fact>
        <Fact name="attempts">
          {call.attempts}
          {call.isRedelivered ? <span className="quiet">, delivered to the service more than once</span> : null}
        </Fact>
        <Fact name="policy's revision">
          <code>{call.policy ?? "unknown"}</code>
        </Fact>
        <Fact name="deadline">
          <Moment at={call.deadlineAt} />
        </Fact>
        {call.session === undefined ? null : (
          <Fact name="session">
            <Link to="/calls" search={{ session: call.session }}>
              {call.session}
            </Link>
          </Fact>
        )}
        {call.operator === undefined ? null : <Fact name="made by the operator">{call.operator}</Fact>}
        {call.hasReadUntrusted ? <Fact name="led by">content of strangers</Fact> : null}
      </section>
      <Steps call={call} />
      <Timeline call={call} />
      <Texts call={call} />
      <InnerCalls call={call} inner={inner} isWhole={isWhole} />
    </>
  );
}

/** Why a call failed: its code with the words of the error, or with what is known without them. */
function Failure({ call }: { readonly call: Call }) {
  const { data: kept } = useQuery(keptTexts(call.toolCallId, call.state));
  if (call.code === undefined) return null;
  const words = kept?.result.state === "kept" ? visible(kept.result.text) : whoAnswered(call);
  return (
    <section aria-label="Why it failed" className={`problem ${toneOf(call) === "warn" ? "is-warn" : "is-bad"}`}>
      <p className="breaks">
        <strong>{call.code}</strong>: {words}
      </p>
    </section>
  );
}

/** What can be done about a call. What the operator has no right for is shown, and says which right it takes. */
function Steps({ call }: { readonly call: Call }) {
  const { data: who } = useQuery(me);
  const cache = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => ask(`/operator/calls/${encodeURIComponent(call.toolCallId)}/cancel`, { method: "POST" }),
    onSettled: () => cache.invalidateQueries({ queryKey: ["call", call.toolCallId] }),
  });
  const isOpen = toneOf(call) === "quiet";
  const lack = who === undefined ? undefined : isOpen ? lacks("cancel", who) : lacksForAgain(who);
  const isReady = who !== undefined && lack === undefined;
  return (
    <>
      <div className="row">
        {isOpen ? (
          <button
            type="button"
            className="bad"
            disabled={!isReady || cancel.isPending}
            title={lack}
            onClick={() => cancel.mutate()}
          >
            Cancel
          </button>
        ) : null}
        {!isOpen && !isReady ? (
          <button type="button" disabled title={lack}>
            Call again
          </button>
        ) : null}
        <Copy text={`./rockbot calls show ${shellWord(call.toolCallId)}`} name="Copy as command" />
        <Copy text={curl(call.toolCallId)} name="Copy as curl" />
      </div>
      {lack === undefined ? null : <p className="quiet">{lack}</p>}
      {cancel.error === null ? null : (
        <p role="alert" className="is-bad">
          {cancel.error.message}
        </p>
      )}
      {!isOpen && isReady ? <CallAgain call={call} /> : null}
    </>
  );
}

const lacksForAgain = (who: Me): string | undefined =>
  lacks("call", who) ??
  (who.operator.sees.includes("arguments")
    ? undefined
    : `You may not call again: the answer may repeat arguments, and “arguments” is missing. The policy gives it to “${who.operator.name}” under “sees”.`);

/** A text as one word of a shell, also if a stranger chose it. */
const shellWord = (text: string): string =>
  /^[A-Za-z0-9_.-]+$/.test(text) && !text.startsWith("-") ? text : `-- '${text.replaceAll("'", `'\\''`)}'`;

const curl = (id: string): string =>
  `curl -s -H "authorization: Bearer $OPERATOR_TOKEN" '${location.origin}/operator/calls/${encodeURIComponent(id).replaceAll("'", "%27")}'`;
