import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { call as callQuery, me } from "../../api/queries.ts";
import type { WaitingCall } from "../../api/types.ts";
import { waitingCall, waitingCalls } from "../../api/waiting.ts";
import { StateBadge } from "../../look/badge.tsx";
import { LongText } from "../../look/long-text.tsx";
import { Needs } from "../../look/needs.tsx";
import { Shown } from "../../look/states.tsx";
import { Moment } from "../../look/time.tsx";
import { visible } from "../../look/visible.ts";
import { Answer } from "./answer.tsx";
import { Decide } from "./decide.tsx";
import { indented } from "./indented.ts";
import { whoIsAsked } from "./words.ts";

const route = getRouteApi("/waiting/$id");

export function WaitingOnePage() {
  const { id } = route.useParams();
  const { data: who } = useQuery(me);
  return (
    <>
      <div className="head">
        <h1>A call that waits</h1>
        <Link to="/waiting">All that wait</Link>
      </div>
      {who === undefined ? null : (
        <Needs right="decide" of={who}>
          <One key={id} id={id} />
        </Needs>
      )}
    </>
  );
}

function One({ id }: { readonly id: string }) {
  const asked = useQuery(waitingCall(id));
  const list = useQuery(waitingCalls);
  const [said, setSaid] = useState("");
  const { calls = [], more = false, problems = [], needsCode = false } = list.data ?? {};
  const live = calls.find((each) => each.id === id);
  const { refetch } = asked;
  const isOtherKind = live !== undefined && asked.data !== undefined && live.kind !== asked.data.kind;
  useEffect(() => {
    if (isOtherKind) void refetch();
  }, [isOtherKind, refetch]);
  // The list says what has changed since the call was read; where it is not whole, the gateway refuses what is too late.
  const isWaiting = live !== undefined || list.data === undefined || more || problems.length > 0;
  return (
    <Shown of={asked}>
      {(read) => {
        const { question: _, ...texts } = read;
        const call: WaitingCall = live === undefined ? read : { ...texts, ...live };
        return (
          <>
            <Became said={said} isWaiting={isWaiting} call={call} />
            <Facts call={call} />
            {call.question === undefined ? null : <Asked question={call.question} />}
            <Given call={call} />
            {isWaiting && call.question !== undefined ? (
              <Answer
                key={`${call.question.hash} ${call.question.faults}`}
                call={call}
                question={call.question}
                needsCode={needsCode}
                onDone={setSaid}
              />
            ) : null}
            {isWaiting && call.question === undefined ? (
              <Decide call={call} needsCode={needsCode} onDone={setSaid} />
            ) : null}
          </>
        );
      }}
    </Shown>
  );
}

/** What became of the call, once something did. */
function Became({
  said,
  isWaiting,
  call: { toolCallId },
}: {
  readonly said: string;
  readonly isWaiting: boolean;
  readonly call: WaitingCall;
}) {
  const { data: who } = useQuery(me);
  const isSettled = said !== "" || !isWaiting;
  const mayRead = who?.operator.may.includes("read") === true;
  const { data: known } = useQuery({ ...callQuery(toolCallId), enabled: isSettled && mayRead });
  const gone = "It does not wait any more: it was decided or answered, its time is over, or its caller has left.";
  return (
    <p role="status" className={said === "" ? "" : "is-good"}>
      {said === "" && !isWaiting ? gone : said}{" "}
      {isSettled && mayRead ? (
        <>
          <Link to="/calls/$id" params={{ id: toolCallId }}>
            what happened to the call
          </Link>{" "}
          {known?.call ? <StateBadge call={known.call} /> : null}
        </>
      ) : null}
    </p>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div className="breaks">
    <span className="quiet">{name}</span>
    <br />
    {children}
  </div>
);

function Facts({ call }: { readonly call: WaitingCall }) {
  return (
    <section className="card figures" aria-label="The call">
      <Fact name="tool">{visible(call.tool)}</Fact>
      <Fact name="caller">{visible(call.caller)}</Fact>
      <Fact name="service">{visible(call.service)}</Fact>
      <Fact name="who is asked">{whoIsAsked(call)}</Fact>
      <Fact name="since">
        <Moment at={call.createdAt} />
      </Fact>
      <Fact name="until">
        <Moment at={call.expiresAt} />
      </Fact>
      {call.hasReadUntrusted ? (
        <Fact name="led by">
          <span className="is-warn">content of strangers</span>
        </Fact>
      ) : null}
      {call.operator === undefined ? null : <Fact name="made by the operator">{call.operator}</Fact>}
      <Fact name="if its caller leaves">{call.isKept ? "it waits on" : "it ends"}</Fact>
      {call.decisions.map(({ operator, verdict, at, note }) => (
        <Fact key={operator} name={`${operator}: ${verdict}`}>
          <Moment at={at} />
          {note === undefined ? null : <div>{visible(note)}</div>}
        </Fact>
      ))}
    </section>
  );
}

const Asked = ({
  question: { message, origin, faults },
}: {
  readonly question: NonNullable<WaitingCall["question"]>;
}) => (
  <section className="card" aria-label="The question">
    <h2>The tool asks</h2>
    {origin === undefined ? null : (
      <p className="is-warn breaks">These are words of a stranger, {visible(origin)}, who gets your answer.</p>
    )}
    <LongText text={message} />
    {faults === undefined ? null : (
      <p role="alert" className="is-bad breaks">
        The last answer did not fit: {visible(faults)}
      </p>
    )}
  </section>
);

/** Longer arguments are folded. */
const MAX_SHOWN = 6_000;

/** The arguments as they would run, with nothing hidden but what it says is folded. */
function Given({ call: { arguments: given, visible: escaped, given: digest } }: { readonly call: WaitingCall }) {
  const [isWhole, setWhole] = useState(false);
  if (given === undefined)
    return (
      <section className="card" aria-label="Arguments">
        <h2>Arguments</h2>
        <p>
          {digest.bytes} bytes{digest.hash === undefined ? "" : ", hash "}
          <code>{digest.hash}</code>.{" "}
          <span className="quiet">
            You are not asked about them, and your “sees” in the policy does not have “arguments”.
          </span>
        </p>
      </section>
    );
  const text = indented(escaped ?? given);
  const folded = text.length > MAX_SHOWN ? text.length - MAX_SHOWN : 0;
  return (
    <section className="card" aria-label="Arguments">
      <h2>Arguments</h2>
      {escaped === undefined ? null : (
        <p className="is-warn">
          They have characters that cannot be seen, or that turn text around. Each stands here as an escape, such as
          \u202e.
        </p>
      )}
      <LongText text={isWhole ? text : text.slice(0, MAX_SHOWN)} />
      {folded === 0 ? null : (
        <p className="row">
          {isWhole ? null : (
            <strong>
              {folded} of {text.length} characters are folded.
            </strong>
          )}
          <button type="button" onClick={() => setWhole(!isWhole)}>
            {isWhole ? "Fold" : "Show all"}
          </button>
        </p>
      )}
    </section>
  );
}
