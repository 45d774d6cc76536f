import { Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import type { Part, ToolPart, Turn, TurnEnd } from "../../api/chat.ts";
import { Badge } from "../../look/badge.tsx";
import { duration } from "../../look/time.tsx";

const Markdown = lazy(() => import("../../look/markdown.tsx"));

/** A message to the agent, and each thing that it did and said. All of it is data of strangers. */
export function TurnView({ turn: { question, parts, turnId, end } }: { readonly turn: Turn }) {
  return (
    <li className="card">
      <pre>{question}</pre>
      {parts.map((part, index) => (
        <PartView key={index} part={part} />
      ))}
      <p className="row" role="status">
        {end === undefined ? <Badge tone="quiet">the agent works</Badge> : <EndView end={end} />}
        {turnId === undefined ? null : (
          <Link to="/calls/$id" params={{ id: turnId }}>
            what happened
          </Link>
        )}
      </p>
    </li>
  );
}

function PartView({ part }: { readonly part: Part }) {
  if (part.kind === "tool") return <ToolView tool={part} />;
  if (part.kind === "notice") return <p className="is-warn">{part.text}</p>;
  return (
    <Suspense fallback={<p className="breaks">{part.text}</p>}>
      <Markdown text={part.text} />
    </Suspense>
  );
}

function ToolView({ tool }: { readonly tool: ToolPart }) {
  const { toolCallId, toolName, status, message, durationMs } = tool;
  return (
    <details className="breaks">
      <summary>
        {toolName}{" "}
        {status === undefined ? (
          <Badge tone="quiet">runs</Badge>
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
  const { finish, reason, isUntrusted, cost, inputTokens = 0, outputTokens = 0 } = end;
  return (
    <>
      <Badge tone={finish === "stop" ? "good" : "warn"}>{finish === "stop" ? "answered" : finish}</Badge>
      {isUntrusted ? <Badge tone="warn">has read words of strangers</Badge> : null}
      {reason === undefined ? null : <span>{reason}</span>}
      <span className="quiet">
        {inputTokens + outputTokens} tokens ({inputTokens} in, {outputTokens} out)
        {cost === undefined ? "" : `, cost ${cost.toPrecision(3)}`}
      </span>
    </>
  );
}
