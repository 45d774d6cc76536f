import { checkAnthropic } from "./check-anthropic.ts";
import type { ModelFault, ModelServerRequest, ModelStep, SentMessage } from "./model-script.ts";
import type { Speech } from "./speech.ts";
import { argumentsOf, piecesOf, type StreamEvent, tokensOf } from "./stream-step.ts";

type Json = Readonly<Record<string, unknown>>;

/** Anthropic's messages. @see https://docs.anthropic.com/en/api/messages */
export const anthropic: Speech = {
  // Its own client sends the key as a bearer's.
  keyOf: (headers) => (headers["x-api-key"] as string | undefined) ?? headers.authorization?.replace(/^Bearer /, ""),
  noKey: () => ({ status: 401, message: "invalid x-api-key", type: "authentication_error" }),
  noModel: (model) => ({ status: 404, message: `model: ${model}`, type: "not_found_error" }),
  tooLong: (tokens, max) => ({
    status: 400,
    message: `prompt is too long: ${tokens} tokens > ${max} maximum`,
    type: "invalid_request_error",
  }),
  tooMuchOutput: (asked, max) => ({
    status: 400,
    message: `max_tokens: ${asked} > ${max}, which is the maximum allowed number of output tokens`,
    type: "invalid_request_error",
  }),
  maxOutputOf: ({ max_tokens: max }) => max,
  check: checkAnthropic,
  messagesOf,
  toolNamesOf: ({ tools }) => (Array.isArray(tools) ? tools.map((tool) => String(tool?.name)) : []),
  faultBody: ({ message, type = "api_error" }) => ({
    type: "error",
    error: { type, message },
    request_id: "req_0123456789",
  }),
  faultOf: ({ status = 500, error = {} }) => ({
    ...(WORDS[status] ?? { message: `Status ${status}.`, type: "api_error" }),
    ...error,
    status,
  }),
  events,
  errorEvent: (fault) => `event: error\ndata: ${JSON.stringify(anthropic.faultBody(fault))}`,
  whole,
};

const WORDS: Readonly<Record<number, Omit<ModelFault, "status">>> = {
  400: { message: "Invalid request.", type: "invalid_request_error" },
  401: { message: "invalid x-api-key", type: "authentication_error" },
  403: { message: "Your API key does not have permission to use the specified resource.", type: "permission_error" },
  413: { message: "Request exceeds the maximum size", type: "request_too_large" },
  429: { message: "This request would exceed your organization's rate limit.", type: "rate_limit_error" },
  500: { message: "Internal server error", type: "api_error" },
  529: { message: "Overloaded", type: "overloaded_error" },
};

/** A tool's result is a message of its own here, as it is with OpenAI. */
function messagesOf({ system, messages }: Json): readonly SentMessage[] {
  const first = system === undefined ? [] : [{ role: "system", text: textOf(system), toolCalls: [] }];
  return [...first, ...(Array.isArray(messages) ? messages.flatMap(sentMessages) : [])];
}

const textOf = (content: unknown): string =>
  typeof content === "string"
    ? content
    : Array.isArray(content)
      ? content.map((block) => (block?.type === "text" ? block.text : "")).join("")
      : "";

function sentMessages({ role, content }: Json): readonly SentMessage[] {
  const blocks: readonly Json[] = Array.isArray(content) ? content : [];
  const results = blocks.filter(({ type }) => type === "tool_result");
  const calls = blocks.filter(({ type }) => type === "tool_use");
  const toolCalls = calls.map(({ id, name, input }) => ({
    id: String(id),
    name: String(name),
    arguments: JSON.stringify(input),
  }));
  const text = textOf(content);
  const rest =
    text === "" && toolCalls.length === 0 && results.length > 0 ? [] : [{ role: String(role), text, toolCalls }];
  return [
    ...results.map((result) => ({
      role: "tool",
      text: textOf(result.content),
      toolCalls: [],
      toolCallId: String(result.tool_use_id),
    })),
    ...rest,
  ];
}

const STOPS: Readonly<Record<string, string>> = {
  stop: "end_turn",
  tool_calls: "tool_use",
  length: "max_tokens",
  content_filter: "refusal",
};

function stopOf({ finish, refusal, toolCalls = [] }: ModelStep): string {
  if (finish !== undefined) return STOPS[finish] ?? finish;
  return refusal !== undefined ? "refusal" : toolCalls.length > 0 ? "tool_use" : "end_turn";
}

function usageOf(
  { text = "", refusal = "", toolCalls = [], usage = {} }: ModelStep,
  request: ModelServerRequest,
  cached: number,
) {
  const read = usage.cachedInputTokens ?? cached;
  const input = usage.inputTokens ?? request.inputTokens;
  const written = tokensOf(text + refusal + toolCalls.map((call) => call.name + argumentsOf(call.arguments)).join(""));
  return {
    input_tokens: Math.max(0, input - read),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: read,
    output_tokens: usage.outputTokens ?? written,
  };
}

const callId = (request: ModelServerRequest, index: number): string =>
  `toolu_${String(request.index).padStart(4, "0")}_${index}`;

const messageOf = (request: ModelServerRequest) => ({
  id: `msg_${request.index}`,
  type: "message",
  role: "assistant",
  model: request.body.model,
});

function* events(step: ModelStep, request: ModelServerRequest, cached: number): Iterable<StreamEvent> {
  if (step.raw !== undefined) return yield* step.raw.map((line) => `data: ${line}`);
  const usage = usageOf(step, request, cached);
  const event = (type: string, rest: object = {}): StreamEvent =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}`;
  let index = 0;
  function* block(content_block: object, deltas: readonly object[]): Iterable<StreamEvent> {
    yield event("content_block_start", { index, content_block });
    for (const delta of deltas) yield event("content_block_delta", { index, delta });
    yield event("content_block_stop", { index: index++ });
  }
  const message = {
    ...messageOf(request),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  };
  yield event("message_start", { message });
  yield event("ping");
  if (step.reasoning !== undefined) {
    const deltas = piecesOf(step.reasoning, step.chunkLength).map((thinking): object => ({
      type: "thinking_delta",
      thinking,
    }));
    yield* block({ type: "thinking", thinking: "", signature: "" }, [
      ...deltas,
      { type: "signature_delta", signature: `signed-${request.index}` },
    ]);
  }
  const text = (step.text ?? "") + (step.refusal ?? "");
  if (text !== "") {
    const deltas = piecesOf(text, step.chunkLength).map((piece) => ({ type: "text_delta", text: piece }));
    yield* block({ type: "text", text: "" }, deltas);
  }
  for (const [at, { id, name, arguments: input }] of (step.toolCalls ?? []).entries()) {
    const pieces = ["", ...piecesOf(argumentsOf(input), step.chunkLength)];
    const deltas = pieces.map((piece) => ({ type: "input_json_delta", partial_json: piece }));
    yield* block({ type: "tool_use", id: id ?? callId(request, at), name, input: {} }, deltas);
  }
  yield event("message_delta", {
    delta: { stop_reason: stopOf(step), stop_sequence: null },
    usage: { output_tokens: usage.output_tokens },
  });
  yield event("message_stop");
}

function whole(step: ModelStep, request: ModelServerRequest, cached: number): object {
  const text = (step.text ?? "") + (step.refusal ?? "");
  const calls = (step.toolCalls ?? []).map(({ id, name, arguments: input }, at) => {
    return { type: "tool_use", id: id ?? callId(request, at), name, input: JSON.parse(argumentsOf(input)) };
  });
  return {
    ...messageOf(request),
    content: [...(text === "" ? [] : [{ type: "text", text }]), ...calls],
    stop_reason: stopOf(step),
    stop_sequence: null,
    usage: usageOf(step, request, cached),
  };
}
