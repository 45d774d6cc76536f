import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { sessionsOf, transcriptOf } from "../../api/kept-by-agent.ts";
import type { Transcript } from "../../api/types.ts";
import { Badge } from "../../look/badge.tsx";
import { LongText } from "../../look/long-text.tsx";
import { Empty, Shown } from "../../look/states.tsx";
import { Moment } from "../../look/time.tsx";
import { visible } from "../../look/visible.ts";
import { More } from "./reading.tsx";

/** The sessions of a caller, and the transcript of one. */
export function Sessions({ as }: { readonly as: string }) {
  const asked = useInfiniteQuery(sessionsOf(as));
  const [shown, setShown] = useState<string>();
  return (
    <>
      <Shown of={asked}>
        {({ pages }) => (
          <>
            {pages[0]?.sessions.length === 0 ? <Empty>There are no sessions in which a user has spoken.</Empty> : null}
            <ul className="tree">
              {pages
                .flatMap(({ sessions }) => sessions)
                .map(({ session, at, said, isUntrusted }) => (
                  <li key={session} className="row">
                    <button
                      type="button"
                      className="plain breaks"
                      aria-pressed={session === shown}
                      onClick={() => setShown(session)}
                    >
                      {visible(session)}
                    </button>
                    <Moment at={at} />
                    {isUntrusted ? <Badge tone="warn">led by words of strangers</Badge> : null}
                    <span className="quiet breaks">{visible(said)}</span>
                  </li>
                ))}
            </ul>
            <More of={asked} isPartial={pages.some(({ isPartial }) => isPartial)} name="Older sessions" />
          </>
        )}
      </Shown>
      {shown === undefined ? null : <OneSession key={shown} as={as} session={shown} onShow={setShown} />}
    </>
  );
}

function OneSession({
  as,
  session,
  onShow,
}: {
  readonly as: string;
  readonly session: string;
  readonly onShow: (session: string) => void;
}) {
  const asked = useQuery(transcriptOf(as, session));
  return (
    <section aria-label={`The session ${session}`}>
      <div className="head">
        <h3 className="breaks">{visible(session)}</h3>
        <button type="button" disabled={asked.isFetching} onClick={() => void asked.refetch()}>
          Look again
        </button>
        <Link to="/calls" search={{ session }}>
          its calls
        </Link>
      </div>
      <Shown of={asked}>
        {({ messages, turns, more, isPartial }) => (
          <>
            {isPartial ? <p className="is-warn">Not all instances of the agent answered.</p> : null}
            {messages.length === 0 ? <Empty>It remembers no message.</Empty> : null}
            {messages.map((message, index) => (
              <MessageView key={index} message={message} />
            ))}
            {turns.length === 0 ? null : <h3>What it led to</h3>}
            {more === 0 ? null : <p className="quiet">{more} older turns are left out.</p>}
            <Branch turns={turns} onShow={onShow} of={session} />
          </>
        )}
      </Shown>
    </section>
  );
}

const SPEAKERS = { user: "user", assistant: "agent", system: "system" } as const;

function MessageView({ message }: { readonly message: Transcript["messages"][number] }) {
  const { role, origin, at, text, isCut, length, isUntrusted } = message;
  return (
    <>
      <p className="row">
        <Badge tone="quiet">{origin === undefined ? SPEAKERS[role] : `by ${origin}`}</Badge>
        <Moment at={at} />
        {isUntrusted ? <Badge tone="warn">led by words of strangers</Badge> : null}
        {isCut ? <span className="quiet">the beginning of {length} characters</span> : null}
      </p>
      <LongText text={text} />
    </>
  );
}

/** Turns of one depth, each with those that it led to. */
function Branch({
  turns,
  of,
  onShow,
}: {
  readonly turns: Transcript["turns"];
  readonly of: string;
  readonly onShow: (session: string) => void;
}) {
  const depth = turns[0]?.depth;
  if (depth === undefined) return null;
  const own = turns.flatMap((turn, index) => (turn.depth === depth ? [index] : []));
  return (
    <ul className="tree">
      {own.map((index, place) => {
        const {
          turn,
          session,
          agent = "agent",
          state,
          finish,
          startedAt,
          calls,
          failed,
        } = turns[index] as Transcript["turns"][number];
        return (
          <li key={turn}>
            {visible(agent)} <Badge tone={state === "lost" ? "bad" : "quiet"}>{finish ?? state}</Badge>{" "}
            <Moment at={startedAt} /> {calls === 1 ? "1 call" : `${calls} calls`}
            {failed === 0 ? "" : `, ${failed} failed`}{" "}
            {session === of ? null : (
              <button type="button" onClick={() => onShow(session)}>
                Its session
              </button>
            )}
            <Branch turns={turns.slice(index + 1, own[place + 1])} of={of} onShow={onShow} />
          </li>
        );
      })}
    </ul>
  );
}
