import { Link } from "@tanstack/react-router";
import { type FormEvent, lazy, Suspense } from "react";
import type { Part, ToolPart, Turn, TurnEnd } from "../../api/chat.ts";
import { Badge } from "../../look/badge.tsx";
import { duration } from "../../look/time.tsx";

const Markdown = lazy(() => import("../../look/markdown.tsx"));

/**
 * A message to the agent, and each thing that it did and said. All of it is data of strangers.
 * @param onAnswer answers the question that the turn ended with; undefined once that is over
 */
export function TurnView({
  turn: { question, robot, parts, turnId, end },
  onAnswer,
}: {
  readonly turn: Turn;
  readonly onAnswer: ((answer: string) => void) | undefined;
}) {
  return (
    <li className="card">
      {robot === "" ? null : <Badge tone="quiet">to {robot}</Badge>}
      <pre>{question}</pre>
      {parts.map((part, index) => (
        <PartView key={index} part={part} isOver={end !== undefined} />
      ))}
      <p className="row" role="status">
        {end === undefined ? <Badge tone="quiet">the agent works</Badge> : <EndView end={end} />}
        {turnId === undefined ? null : (
          <Link to="/calls/$id" params={{ id: turnId }}>
            what happened
          </Link>
        )}
      </p>
      {end?.kind === "done" && end.asks && onAnswer !== undefined ? <AnswerForm onAnswer={onAnswer} /> : null}
    </li>
  );
}

/** The way to answer a question of the agent. */
function AnswerForm({ onAnswer }: { readonly onAnswer: (answer: string) => void }) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const answer = String(new FormData(event.currentTarget).get("answer") ?? "").trim();
    if (answer !== "") onAnswer(answer);
  };
  return (
    <form className="row" onSubmit={submit}>
      <label className="row">
        <span>your answer</span>
        <input name="answer" autoComplete="off" />
      </label>
      <button type="submit" className="first">
        Answer
      </button>
    </form>
  );
}

function PartView({ part, isOver }: { readonly part: Part; readonly isOver: boolean }) {
  if (part.kind === "tool") return <ToolView tool={part} isOver={isOver} />;
  if (part.kind === "notice") return <p className="is-warn">{part.text}</p>;
  return (
    <Suspense fallback={<p className="breaks">{part.text}</p>}>
      <Markdown text={part.text} />
    </Suspense>
  );
}

interface ToolViewOptions {
  readonly tool: ToolPart;
  /** What made the call has ended. */
  readonly isOver: boolean;
}

/** A call, and below it those that the agent made that it has called. */
function ToolView({ tool, isOver }: ToolViewOptions) {
  return (
    <>
      <OneTool tool={tool} isOver={isOver} />
      {tool.inner === undefined ? null : (
        <ul className="tree" aria-label={`Calls of ${tool.toolName}`}>
          {tool.inner.map((each) => (
            <li key={each.toolCallId}>
              <ToolView tool={each} isOver={isOver || tool.status !== undefined} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function OneTool({ tool, isOver }: ToolViewOptions) {
  const { toolCallId, toolName, status, message, durationMs } = tool;
  return (
    <details className="breaks">
      <summary>
        {toolName}{" "}
        {status === undefined ? (
          <Badge tone="quiet">{isOver ? "no end known" : "runs"}</Badge>
        ) : (
          <Badge tone={status === "ok" ? "good" : "bad"}>{status}</Badge>
        )}{" "}
        {durationMs === undefined ? null : <span className="quiet">{duration(durationMs)}</span>}
        {message === undefined ? null : <span className="quiet"> {message}</span>}
      </summary>
      <pre>{tool.arguments}</pre>
      <Link to="/calls/$id" params={{ id: toolCallId }}>
        the call
      </Link>
    </details>
  );
}

function EndView({ end }: { readonly end: TurnEnd }) {
  if (end.kind === "error")
    return (
      <span role="alert" className="is-bad">
        {end.message}
      </span>
    );
  const { finish, asks, reason, isUntrusted, cost, inputTokens = 0, outputTokens = 0 } = end;
  return (
    <>
      <Badge tone={finish === "stop" && !asks ? "good" : "warn"}>
        {asks ? "asks you" : finish === "stop" ? "answered" : finish}
      </Badge>
      {isUntrusted ? <Badge tone="warn">has read words of strangers</Badge> : null}
      {reason === undefined ? null : <span>{reason}</span>}
      <span className="quiet">
        {inputTokens + outputTokens} tokens ({inputTokens} in, {outputTokens} out)
        {cost === undefined ? "" : `, cost ${cost.toPrecision(3)}`}
      </span>
    </>
  );
}
