import { eventsOf } from "./events.ts";
import { ask } from "./session.ts";

/** A call of a tool in a turn. */
export interface ToolPart {
  readonly kind: "tool";
  readonly toolCallId: string;
  readonly toolName: string;
  /** The arguments' text, shortened if long. */
  readonly arguments: string;
  /** The newest word of the tool, or of its error. */
  readonly message?: string;
  /** Absent while it runs: then `ok`, or the code of an error. */
  readonly status?: string;
  readonly durationMs?: number;
  /** The calls that it has made, where it is a call of another agent. */
  readonly inner?: readonly ToolPart[];
}

/** One thing that a turn has brought, in the order of the turn. */
export type Part = ToolPart | { readonly kind: "text" | "notice"; readonly text: string };

/** What became of a turn. */
export type TurnEnd =
  | { readonly kind: "error"; readonly message: string }
  | {
      readonly kind: "done";
      readonly finish: string;
      readonly reason?: string;
      /** The text is a question, and the next message answers it. */
      readonly asks: boolean;
      readonly isUntrusted: boolean;
      /** By the prices that the agent has, in their currency. */
      readonly cost?: number;
      readonly inputTokens?: number;
      readonly outputTokens?: number;
    };

/** A message to the agent, and what came of it. */
export interface Turn {
  readonly question: string;
  /** The robot that was asked; empty for the agent itself. */
  readonly robot: string;
  readonly parts: readonly Part[];
  /** The id of the call that the turn is. */
  readonly turnId?: string;
  readonly end?: TurnEnd;
}

/** The parts of a chunk that are read here. Its `rockbot` is a step of the turn, or what is said at the end. */
export interface Chunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
  readonly error?: { readonly message: string };
  readonly rockbot?: Partial<Omit<ToolPart, "kind" | "inner">> & {
    readonly kind?: string;
    readonly parentCallId?: string;
    readonly turnId?: string;
    readonly text?: string;
    readonly finish?: string;
    readonly reason?: string;
    readonly isUntrusted?: boolean;
    readonly cost?: number;
  };
}

/** Has a turn go on by a chunk of its stream. */
export function withChunk(turn: Turn, { choices, usage, error, rockbot }: Chunk): Turn {
  if (error !== undefined) return { ...turn, end: { kind: "error", message: error.message } };
  const id = rockbot?.turnId === undefined ? {} : { turnId: rockbot.turnId };
  if (usage != null && turn.end?.kind === "done") {
    const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = usage;
    return { ...turn, end: { ...turn.end, inputTokens, outputTokens } };
  }
  if (rockbot?.kind !== undefined) return { ...turn, ...id, parts: withStep(turn.parts, rockbot) };
  if (rockbot?.finish !== undefined) {
    const { finish, status, reason, cost, isUntrusted = false } = rockbot;
    const asks = status === "input-required";
    const more = { ...(reason === undefined ? {} : { reason }), ...(cost === undefined ? {} : { cost }) };
    return { ...turn, ...id, end: { kind: "done", finish, asks, isUntrusted, ...more } };
  }
  const text = choices?.[0]?.delta?.content ?? "";
  return text === "" ? turn : { ...turn, parts: withText(turn.parts, text) };
}

function withText(parts: readonly Part[], text: string): readonly Part[] {
  const last = parts.at(-1);
  return last?.kind === "text"
    ? [...parts.slice(0, -1), { kind: "text", text: last.text + text }]
    : [...parts, { kind: "text", text }];
}

function withStep(parts: readonly Part[], step: NonNullable<Chunk["rockbot"]>): readonly Part[] {
  const { kind, text, parentCallId = "", toolCallId = "", toolName = "", message, status, durationMs } = step;
  if (kind === "notice") return [...parts, { kind, text: text ?? "" }];
  const begun: ToolPart = { kind: "tool", toolCallId, toolName, arguments: step.arguments ?? "" };
  if (kind === "tool_started") return [...parts, begun];
  if (kind === "inner_started")
    return withTool(parts, parentCallId, (tool) => ({
      ...tool,
      inner: [...(tool.inner ?? []), begun].slice(-MAX_INNER),
    }));
  const news = {
    ...(message === undefined ? {} : { message }),
    ...(status === undefined ? {} : { status }),
    ...(durationMs === undefined ? {} : { durationMs }),
  };
  return withTool(parts, toolCallId, (tool) => ({ ...tool, ...news }));
}

/** Calls of one agent that are shown. */
const MAX_INNER = 200;

/** Changes a call, wherever in the tree it is. */
function withTool<One extends Part>(
  parts: readonly One[],
  toolCallId: string,
  change: (tool: ToolPart) => ToolPart,
): readonly One[] {
  return parts.map((part) => {
    if (part.kind !== "tool") return part;
    if (part.toolCallId === toolCallId) return change(part) as One;
    return part.inner === undefined ? part : { ...part, inner: withTool(part.inner, toolCallId, change) };
  });
}

/**
 * Asks the agent as a caller that the operator speaks for. The turn ends with its request.
 * @param onChunk gets the turn's chunks as they come
 */
export async function askAgent(
  question: string,
  { as, robot, session, signal, onChunk }: ChatOptions & { readonly onChunk: (chunk: Chunk) => void },
): Promise<void> {
  const response = await ask(
    `/operator/chat/completions?${new URLSearchParams({ as, ...(robot === "" ? {} : { agent: robot }) })}`,
    {
      method: "POST",
      headers: { "content-type": "application/json", "rockbot-session": session, "rockbot-on-close": "cancel" },
      body: JSON.stringify({
        messages: [{ role: "user", content: question }],
        stream: true,
        stream_options: { include_usage: true },
      }),
      signal,
    },
  );
  for await (const { value } of eventsOf<Chunk>(response)) {
    onChunk(value);
    if (value.usage != null || value.error !== undefined) return; // what follows is no JSON
  }
}

interface ChatOptions {
  readonly as: string;
  /** The robot that answers; empty for the agent itself. */
  readonly robot: string;
  /** One of this operator's own. */
  readonly session: string;
  readonly signal: AbortSignal;
}
