import { checkOpenAi } from "./check-openai.ts";
import type { ModelFault, ModelServerRequest, ModelStep, SentMessage } from "./model-script.ts";
import type { Speech } from "./speech.ts";
import { argumentsOf, piecesOf, type StreamEvent, tokensOf } from "./stream-step.ts";

type Json = Readonly<Record<string, unknown>>;

/** OpenAI's chat completions. @see https://platform.openai.com/docs/api-reference/chat */
export const openAi: Speech = {
  keyOf: ({ authorization }) => authorization?.replace(/^Bearer /, ""),
  noKey: () => ({
    status: 401,
    message: "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys.",
    type: "invalid_request_error",
    code: "invalid_api_key",
  }),
  noModel: (model) => ({
    status: 404,
    message: `The model \`${model}\` does not exist or you do not have access to it.`,
    type: "invalid_request_error",
    code: "model_not_found",
  }),
  tooLong: (tokens, max) => ({
    status: 400,
    message: `This model's maximum context length is ${max} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
    type: "invalid_request_error",
    code: "context_length_exceeded",
    param: "messages",
  }),
  tooMuchOutput: (asked, max) => ({
    status: 400,
    message: `max_tokens is too large: ${asked}. This model supports at most ${max} completion tokens, whereas you provided ${asked}.`,
    type: "invalid_request_error",
    code: "invalid_value",
    param: "max_tokens",
  }),
  maxOutputOf: ({ max_tokens: old, max_completion_tokens: max }) => max ?? old,
  check: checkOpenAi,
  messagesOf: ({ messages }) => (Array.isArray(messages) ? messages.map(sentMessage) : []),
  toolNamesOf: ({ tools }) => (Array.isArray(tools) ? tools.map((tool) => String(tool?.function?.name)) : []),
  faultBody: ({ message, type = "server_error", code = null, param = null }) => ({
    error: { message, type, param, code },
  }),
  faultOf,
  events,
  last: "data: [DONE]",
  errorEvent: (fault) => `data: ${JSON.stringify(openAi.faultBody(fault))}`,
  whole,
};

function sentMessage(message: Json): SentMessage {
  const { role, content, tool_calls: calls, tool_call_id: id } = message;
  const text =
    typeof content === "string"
      ? content
      : Array.isArray(content)
        ? content.map((part) => part?.text ?? "").join("")
        : "";
  const toolCalls = Array.isArray(calls)
    ? calls.map((call) => ({ id: call.id, name: call.function?.name, arguments: call.function?.arguments }))
    : [];
  return { role: String(role), text, toolCalls, ...(typeof id === "string" && { toolCallId: id }) };
}

const WORDS: Readonly<Record<number, Omit<ModelFault, "status">>> = {
  400: { message: "Invalid request.", type: "invalid_request_error" },
  401: { message: "Incorrect API key provided.", type: "invalid_request_error", code: "invalid_api_key" },
  429: {
    message: "Rate limit reached for requests. Please try again in 20s.",
    type: "requests",
    code: "rate_limit_exceeded",
  },
  500: { message: "The server had an error while processing your request. Sorry about that!", type: "server_error" },
  503: { message: "The engine is currently overloaded, please try again later.", type: "server_error" },
};

function faultOf({ status = 500, error = {} }: ModelStep): ModelFault {
  return { ...(WORDS[status] ?? { message: `Status ${status}.`, type: "server_error" }), ...error, status };
}

const finishOf = ({ finish, refusal, toolCalls = [] }: ModelStep): string =>
  finish ?? (refusal === undefined && toolCalls.length > 0 ? "tool_calls" : "stop");

function usageOf(step: ModelStep, request: ModelServerRequest, cached: number): object {
  const { text = "", refusal = "", toolCalls = [], usage = {} } = step;
  const written = tokensOf(text + refusal + toolCalls.map((call) => call.name + argumentsOf(call.arguments)).join(""));
  const input = usage.inputTokens ?? request.inputTokens;
  const output = usage.outputTokens ?? written;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: usage.cachedInputTokens ?? cached, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

const headOf = (request: ModelServerRequest, object: string): object => ({
  id: `chatcmpl-${request.index}`,
  object,
  created: 1_700_000_000 + request.index,
  model: request.body.model,
  system_fingerprint: "fp_0123456789",
});

const callId = (request: ModelServerRequest, index: number): string =>
  `call_${String(request.index).padStart(4, "0")}_${index}`;

function* events(step: ModelStep, request: ModelServerRequest, cached: number): Iterable<StreamEvent> {
  if (step.raw !== undefined) return yield* step.raw.map((line) => `data: ${line}`);
  const head = headOf(request, "chat.completion.chunk");
  const options = request.body.stream_options as { include_usage?: boolean } | undefined;
  const chunk = (delta: object, finish: string | null = null): StreamEvent =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...(options?.include_usage && { usage: null }) })}`;
  yield chunk({
    role: "assistant",
    content: step.toolCalls !== undefined && step.text === undefined ? null : "",
    refusal: null,
  });
  for (const piece of piecesOf(step.reasoning ?? "", step.chunkLength)) yield chunk({ reasoning_content: piece });
  for (const piece of piecesOf(step.text ?? "", step.chunkLength)) yield chunk({ content: piece });
  for (const piece of piecesOf(step.refusal ?? "", step.chunkLength)) yield chunk({ refusal: piece });
  for (const [index, { id, name, arguments: input }] of (step.toolCalls ?? []).entries()) {
    yield chunk({
      tool_calls: [{ index, id: id ?? callId(request, index), type: "function", function: { name, arguments: "" } }],
    });
    for (const piece of piecesOf(argumentsOf(input), step.chunkLength))
      yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  yield chunk({}, finishOf(step));
  if (options?.include_usage)
    yield `data: ${JSON.stringify({ ...head, choices: [], usage: usageOf(step, request, cached) })}`;
}

function whole(step: ModelStep, request: ModelServerRequest, cached: number): object {
  const calls = step.toolCalls?.map(({ id, name, arguments: input }, index) => ({
    id: id ?? callId(request, index),
    type: "function",
    function: { name, arguments: argumentsOf(input) },
  }));
  const message = {
    role: "assistant",
    content: step.text ?? null,
    refusal: step.refusal ?? null,
    ...(calls && { tool_calls: calls }),
  };
  return {
    ...headOf(request, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(step) }],
    usage: usageOf(step, request, cached),
  };
}
