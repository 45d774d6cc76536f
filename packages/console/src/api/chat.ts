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
      readonly isUntrusted: boolean;
      /** By the prices that the agent has, in their currency. */
      readonly cost?: number;
      readonly inputTokens?: number;
      readonly outputTokens?: number;
    };

/** A message to the agent, and what came of it. */
export interface Turn {
  readonly question: string;
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
  readonly rockbot?: Partial<Omit<ToolPart, "kind">> & {
    readonly kind?: string;
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
    const { finish, reason, cost, isUntrusted = false } = rockbot;
    const more = { ...(reason === undefined ? {} : { reason }), ...(cost === undefined ? {} : { cost }) };
    return { ...turn, ...id, end: { kind: "done", finish, isUntrusted, ...more } };
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
  const { kind, text, toolCallId = "", toolName = "", message, status, durationMs } = step;
  if (kind === "notice") return [...parts, { kind, text: text ?? "" }];
  if (kind === "tool_started")
    return [...parts, { kind: "tool", toolCallId, toolName, arguments: step.arguments ?? "" }];
  const news = {
    ...(message === undefined ? {} : { message }),
    ...(status === undefined ? {} : { status }),
    ...(durationMs === undefined ? {} : { durationMs }),
  };
  return parts.map((part) => (part.kind === "tool" && part.toolCallId === toolCallId ? { ...part, ...news } : part));
}

/**
 * Asks the agent as a caller that the operator speaks for. The turn ends with its request.
 * @param onChunk gets the turn's chunks as they come
 */
export async function askAgent(
  question: string,
  { as, session, signal, onChunk }: ChatOptions & { readonly onChunk: (chunk: Chunk) => void },
): Promise<void> {
  const response = await ask(`/operator/chat/completions?${new URLSearchParams({ as })}`, {
    method: "POST",
    headers: { "content-type": "application/json", "rockbot-session": session, "rockbot-on-close": "cancel" },
    body: JSON.stringify({
      messages: [{ role: "user", content: question }],
      stream: true,
      stream_options: { include_usage: true },
    }),
    signal,
  });
  for await (const { value } of eventsOf<Chunk>(response)) {
    onChunk(value);
    if (value.usage != null || value.error !== undefined) return; // what follows is no JSON
  }
}

interface ChatOptions {
  readonly as: string;
  /** One of this operator's own. */
  readonly session: string;
  readonly signal: AbortSignal;
}
