import type { AgentEvent, AgentUsage, ToolAgentChatOutput } from "@rockbot/contracts";
import { withoutNulls } from "../sessions/without-nulls.ts";

/** The parts that the completion and all of its chunks have in common. */
export interface CompletionHead {
  readonly toolCallId: string;
  /** The model that the client asked for. */
  readonly model: string;
  /** Unix seconds. */
  readonly created: number;
}

const finishReasons: Readonly<Record<ToolAgentChatOutput["finish"], string>> = {
  stop: "stop",
  tool_calls: "tool_calls",
  limit: "length",
  length: "length",
  refused: "content_filter",
  failed: "stop", // never seen: it is an error
};

/** A turn's answer as OpenAI's `chat.completion`. `rockbot` is ours, and has what OpenAI's form has no place for. */
export function completionOf(
  { toolCallId, model, created }: CompletionHead,
  output: ToolAgentChatOutput,
  isUntrusted: boolean,
): object {
  const { text, finish, tool_calls: toolCalls = [], usage } = output;
  const message = {
    role: "assistant",
    content: text === "" && toolCalls.length > 0 ? null : text,
    refusal: null,
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(toolCallOf) }),
  };
  return {
    id: completionId(toolCallId),
    object: "chat.completion",
    created,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasons[finish] }],
    usage: usageOf(usage),
    rockbot: detailsOf(output, isUntrusted),
  };
}

/** The chunks of a stream, each as the data of one event. */
export class ChunkWriter {
  readonly #head: object;
  readonly #includesUsage: boolean;

  /** @param includesUsage whether the last chunk says what the turn used, and all others that they do not */
  constructor({ toolCallId, model, created }: CompletionHead, includesUsage: boolean) {
    this.#head = { id: completionId(toolCallId), object: "chat.completion.chunk", created, model };
    this.#includesUsage = includesUsage;
  }

  /** The first chunk. */
  role(): string {
    return this.#chunk({ role: "assistant", content: "" });
  }

  text(content: string, sequence?: number): string {
    return this.#chunk({ content }, { sequence });
  }

  /**
   * A step of the turn that OpenAI's form has no place for: a chunk that adds nothing, or a text of ours, with the
   * event as `rockbot`.
   */
  step(event: AgentEvent, content?: string): string {
    return this.#chunk(content === undefined ? {} : { content }, {
      sequence: event.sequence,
      extension: withoutNulls(event),
    });
  }

  /** The end: the calls of the client's tools, the reason, the usage, and the mark that nothing follows. */
  end(output: ToolAgentChatOutput, isUntrusted: boolean): string {
    const { tool_calls: toolCalls = [], finish, usage } = output;
    const calls =
      toolCalls.length === 0
        ? ""
        : this.#chunk({ tool_calls: toolCalls.map((call, index) => ({ index, ...toolCallOf(call) })) });
    const last = this.#chunk({}, { finish: finishReasons[finish], extension: detailsOf(output, isUntrusted) });
    const used = this.#includesUsage ? eventText({ ...this.#head, choices: [], usage: usageOf(usage) }) : "";
    return `${calls}${last}${used}data: [DONE]\n\n`;
  }

  #chunk(
    delta: object,
    {
      sequence,
      finish = null,
      extension,
    }: { sequence?: number | undefined; finish?: string | null; extension?: object } = {},
  ): string {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
    return eventText(
      {
        ...this.#head,
        choices,
        ...(this.#includesUsage ? { usage: null } : {}),
        ...(extension === undefined ? {} : { rockbot: extension }),
      },
      sequence,
    );
  }
}

/**
 * One event. Its id is where a stream that was cut off goes on. JSON text has no line breaks, so one data line holds
 * it.
 */
export const eventText = (value: object, sequence?: number): string =>
  `${sequence === undefined ? "" : `id: ${sequence}\n`}data: ${JSON.stringify(value)}\n\n`;

const completionId = (toolCallId: string): string => `chatcmpl-${toolCallId}`;

const toolCallOf = ({
  id,
  name,
  arguments: args,
}: {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}): object => ({
  id,
  type: "function",
  function: { name, arguments: args },
});

const usageOf = ({
  input_tokens: prompt,
  output_tokens: completion,
  cached_input_tokens: cached,
}: AgentUsage): object => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  ...(cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached } }),
});

const detailsOf = (
  { turn_id: turnId, session_id: sessionId, finish, report, reason, usage }: ToolAgentChatOutput,
  isUntrusted: boolean,
): object => ({
  turnId,
  sessionId,
  finish,
  ...(report === undefined ? {} : { status: report.status }),
  ...(reason === undefined ? {} : { reason }),
  ...(usage.cost === undefined ? {} : { cost: usage.cost }),
  isUntrusted,
});
