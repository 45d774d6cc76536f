import { isRecord } from "@rockbot/base";
import { type ToolAgentChatInput, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { type RequestFault, readMessages } from "./chat-messages.ts";

type ClientTool = NonNullable<ToolAgentChatInput["tools"]>[number];

/** A request for a chat completion, as the agent and the answer need it. */
export interface ChatRequest {
  /** The arguments of the turn. */
  readonly input: ToolAgentChatInput;
  /** As the client says it, for the answer. */
  readonly model: string;
  readonly isStream: boolean;
  /** True if the last chunk of a stream gives the usage of the turn. */
  readonly includeUsage: boolean;
}

/** The name of the agent among models: whatever model it is configured with. */
export const AGENT_MODEL = "rockbot";

/**
 * Reads the body of a request for a chat completion. Parameters that tune a model, such as `temperature`, are the
 * operator's and are passed over. Parameters that would change the answer's form, or promise something that the agent
 * does not keep, are refused.
 * @param sessionId the session, of which only the newest message is taken; without one the messages are the whole
 * conversation
 * @throws {ToolError} `invalid_arguments` that names every fault; its `details.param` is where the first is
 */
export function readChatRequest(body: Readonly<Record<string, unknown>>, sessionId: string | undefined): ChatRequest {
  const faults: RequestFault[] = [];
  const messages = readMessages(body["messages"], faults, { onlyLast: sessionId !== undefined });
  const { model, stream, stream_options: streamOptions } = body;
  if (model != null && (typeof model !== "string" || model === ""))
    faults.push({ param: "model", message: "expected the name of a model" });
  if (stream != null && typeof stream !== "boolean")
    faults.push({ param: "stream", message: "expected true or false" });
  const tools = chosenTools(
    body["tool_choice"],
    body["tool_choice"] === "none" ? [] : readTools(body["tools"], faults),
    faults,
  );
  const isRequired = tools.length > 0 && !["auto", "none", null, undefined].includes(body["tool_choice"] as string);
  const stop: unknown[] = [body["stop"] ?? []].flat().filter((text) => text !== "");
  if (!stop.every((text) => typeof text === "string"))
    faults.push({ param: "stop", message: "expected a text, or a list of texts" });
  const form = readForm(body["response_format"], faults);
  const maxOutputTokens = readTokens(body, faults);
  addRefusals(body, faults);

  const last = messages.at(-1);
  if (sessionId !== undefined && last !== undefined && last.role !== "user")
    faults.push({
      param: "messages",
      message:
        "in a session the last message has to be the user's, which alone is taken. Leave the session out to send a whole conversation",
    });
  if (sessionId !== undefined && tools.length > 0)
    faults.push({
      param: "tools",
      message:
        "in a session the agent uses its own tools only. Leave the session out to have calls of your tools returned",
    });
  if (faults.length > 0) throw refusal(faults);

  const name = typeof model === "string" ? model : AGENT_MODEL;
  return {
    input: {
      ...(sessionId === undefined
        ? { messages: messages as NonNullable<ToolAgentChatInput["messages"]> }
        : {
            message: last?.content || (last?.images === undefined ? "" : "(no text)"),
            session_id: sessionId,
            ...(last?.images && { images: last.images }),
          }),
      ...(name === AGENT_MODEL ? {} : { model: name }),
      ...(tools.length === 0 ? {} : { tools }),
      ...(isRequired ? { tool_choice: "required" } : {}),
      ...(tools.length > 0 && body["parallel_tool_calls"] === false ? { parallel_tool_calls: false } : {}),
      ...(stop.length === 0 ? {} : { stop: stop as string[] }),
      ...(form === undefined ? {} : { response_format: form }),
      ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
    },
    model: name,
    isStream: stream === true,
    includeUsage: isRecord(streamOptions) && streamOptions["include_usage"] === true,
  };
}

function readTools(value: unknown, faults: RequestFault[]): ClientTool[] {
  if (value == null) return [];
  if (!Array.isArray(value)) {
    faults.push({ param: "tools", message: "expected a list" });
    return [];
  }
  return value.flatMap((tool, index) => {
    const { type, function: called } = isRecord(tool) ? tool : {};
    const { name, description, parameters } = isRecord(called) ? called : {};
    if (type !== "function" || typeof name !== "string" || (parameters != null && !isRecord(parameters))) {
      faults.push({
        param: `tools[${index}]`,
        message: "expected a tool of the type function, with a name and a JSON Schema of its parameters",
      });
      return [];
    }
    const schema = parameters ?? { type: "object", properties: {} };
    return [
      {
        name,
        ...(typeof description === "string" ? { description } : {}),
        parameters: schema as ClientTool["parameters"],
      },
    ];
  });
}

/**
 * The tools that the model may call: all of the client, or the one that has to be called. They say nothing about the
 * agent's own.
 */
function chosenTools(choice: unknown, tools: ClientTool[], faults: RequestFault[]): ClientTool[] {
  if (choice == null || choice === "auto" || choice === "none") return tools;
  const called = isRecord(choice) && isRecord(choice["function"]) ? choice["function"]["name"] : undefined;
  const chosen = choice === "required" ? tools : tools.filter(({ name }) => name === called);
  const message =
    'expected "auto", "none", "required", or a tool of the type function by its name, and that tool among tools';
  if (chosen.length === 0) faults.push({ param: "tool_choice", message });
  return chosen;
}

function readForm(value: unknown, faults: RequestFault[]): ToolAgentChatInput["response_format"] {
  const { type, json_schema: given } = isRecord(value) ? value : { type: value ?? "text" };
  if (type === "text") return undefined;
  if (type === "json_object") return {};
  const { name, schema, strict } = isRecord(given) ? given : {};
  if (type === "json_schema" && isRecord(schema))
    return { schema, ...(typeof name === "string" && name !== "" && { name }), strict: strict === true };
  faults.push({
    param: "response_format",
    message: "expected the type text, json_object, or json_schema with a schema in json_schema",
  });
  return undefined;
}

function readTokens(body: Readonly<Record<string, unknown>>, faults: RequestFault[]): number | undefined {
  for (const param of ["max_completion_tokens", "max_tokens"]) {
    const value = body[param];
    if (value == null) continue;
    if (Number.isSafeInteger(value) && Number(value) >= 1) return Math.min(Number(value), MAX_OUTPUT_TOKENS);
    faults.push({ param, message: "expected a whole number of at least 1" });
  }
  return undefined;
}

/** The most that a turn may be asked for. */
const MAX_OUTPUT_TOKENS = 1_000_000;

const unlessIs = (harmless: (value: unknown) => boolean, why: string) => (value: unknown) =>
  harmless(value) ? undefined : why;

/** Why a parameter's value is not taken; undefined if it is. */
const refused: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  n: unlessIs((value) => value === 1, "the agent gives one answer. Send 1, or leave it out"),
  modalities: unlessIs(
    (value) => Array.isArray(value) && value.every((each) => each === "text"),
    'the agent answers in text. Send ["text"], or leave it out',
  ),
  audio: () => "the agent answers in text. Leave it out",
  logprobs: unlessIs((value) => value === false, "the agent knows no probabilities. Leave it out"),
  top_logprobs: unlessIs((value) => value === 0, "the agent knows no probabilities. Leave it out"),
  functions: unlessIs((value) => Array.isArray(value) && value.length === 0, "send tools instead"),
  function_call: unlessIs((value) => value === "auto" || value === "none", "send tool_choice instead"),
};

function addRefusals(body: Readonly<Record<string, unknown>>, faults: RequestFault[]): void {
  for (const [param, judge] of Object.entries(refused)) {
    const value = body[param];
    const message = value == null ? undefined : judge(value);
    if (message !== undefined) faults.push({ param, message });
  }
}

/** So many faults are named. */
const MAX_FAULTS = 20;

function refusal(faults: readonly RequestFault[]): ToolError {
  const named = faults.slice(0, MAX_FAULTS).map(({ param, message }) => `${param}: ${message}`);
  const more = faults.length > MAX_FAULTS ? [`and ${faults.length - MAX_FAULTS} more`] : [];
  return new ToolError(ToolErrorCode.InvalidArguments, `Cannot take the request: ${[...named, ...more].join("; ")}`, {
    details: { param: faults[0]?.param },
  });
}
