import type { ModelFault } from "./model-script.ts";
import { isObject, openAiSchemaFault } from "./schema-faults.ts";

type Json = Readonly<Record<string, unknown>>;

const NAME = /^[a-zA-Z0-9_-]+$/;
const ROLES = ["system", "developer", "user", "assistant", "tool", "function"];
/** The longest list of tools, and texts of one. */
const MAX = { tools: 128, name: 64, description: 1024, id: 40 };
/** What the API takes beside messages. @see https://platform.openai.com/docs/api-reference/chat/create */
const ARGUMENTS = new Set(
  "model messages tools tool_choice parallel_tool_calls stream stream_options max_tokens max_completion_tokens temperature top_p n stop seed user response_format reasoning_effort verbosity prompt_cache_key prompt_cache_retention safety_identifier frequency_penalty presence_penalty logit_bias logprobs top_logprobs metadata store service_tier modalities prediction audio web_search_options functions function_call".split(
    " ",
  ),
);

const MESSAGE = new Set(["role", "content", "name", "tool_calls", "tool_call_id", "refusal", "audio", "function_call"]);

class Refusal extends Error {
  readonly fault: ModelFault;
  constructor(
    message: string,
    { code = null, param = null }: { readonly code?: string | null; readonly param?: string | null } = {},
  ) {
    super(message);
    this.fault = { status: 400, message, type: "invalid_request_error", code, param };
  }
}

/** The first reason for which OpenAI's API would answer a chat completion's body with 400, in its words. */
export function checkOpenAi(body: Json): ModelFault | undefined {
  try {
    for (const name of Object.keys(body))
      if (!ARGUMENTS.has(name)) throw new Refusal(`Unrecognized request argument supplied: ${name}`);
    checkLimits(body);
    checkMessages(body.messages, String(body.model));
    checkTools(body);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.fault;
    throw error;
  }
}

function checkLimits(body: Json): void {
  const { max_tokens: old, max_completion_tokens: max, stream, stream_options: options } = body;
  if (old !== undefined && max !== undefined)
    throw new Refusal("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.");
  if (old !== undefined && /^(gpt-5|o\d)/.test(String(body.model))) {
    const message =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    throw new Refusal(message, { code: "unsupported_parameter", param: "max_tokens" });
  }
  const limit = max ?? old ?? 1;
  if (!Number.isInteger(limit))
    throw new Refusal(`Invalid type for 'max_tokens': expected an integer, but got ${JSON.stringify(limit)} instead.`);
  if ((limit as number) < 1)
    throw new Refusal(
      `Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got ${limit} instead.`,
    );
  if (options !== undefined && stream !== true)
    throw new Refusal("The 'stream_options' parameter is only allowed when 'stream' is enabled.");
}

function checkMessages(messages: unknown, model: string): void {
  if (messages === undefined)
    throw new Refusal("Missing required parameter: 'messages'.", {
      code: "missing_required_parameter",
      param: "messages",
    });
  if (!Array.isArray(messages))
    throw new Refusal("Invalid type for 'messages': expected an array of objects.", {
      code: "invalid_type",
      param: "messages",
    });
  if (messages.length === 0)
    throw new Refusal(
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    );
  let open = new Set<string>();
  messages.forEach((message: unknown, index) => {
    if (!isObject(message)) throw new Refusal(`Invalid type for 'messages[${index}]': expected an object.`);
    if (!ROLES.includes(String(message.role))) {
      throw new Refusal(
        `Invalid value: '${message.role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`,
        {
          code: "invalid_value",
          param: `messages[${index}].role`,
        },
      );
    }
    checkKeys(message, index, model);
    if (message.role === "tool") {
      checkResult(message, index, open);
      return;
    }
    if (open.size > 0) throw missing(open);
    checkContent(message, index);
    open = message.role === "assistant" ? callsOf(message, index) : new Set();
  });
  if (open.size > 0) throw missing(open);
}

const missing = (open: ReadonlySet<string>): Refusal =>
  new Refusal(
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(", ")}`,
    { param: "messages" },
  );

function checkResult(message: Json, index: number, open: Set<string>): void {
  if (typeof message.content !== "string" && !Array.isArray(message.content)) throw noText(index, message.content);
  if (typeof message.tool_call_id !== "string")
    throw new Refusal(`Missing required parameter: 'messages[${index}].tool_call_id'.`);
  if (open.delete(message.tool_call_id)) return;
  throw new Refusal(
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    {
      param: `messages.[${index}].role`,
    },
  );
}

const noText = (index: number, content: unknown): Refusal =>
  new Refusal(
    `Invalid value for 'content': expected a string, got ${content === undefined ? "undefined" : JSON.stringify(content)}.`,
    {
      param: `messages.[${index}].content`,
    },
  );

/** DeepSeek and makers like it want back what the model thought; OpenAI knows no such thing. */
function checkKeys(message: Json, index: number, model: string): void {
  const thinks = /deepseek|kimi|glm/.test(model);
  if (thinks && message.role === "assistant" && message.reasoning_content === undefined) {
    throw new Refusal("The reasoning_content in the thinking mode must be passed back to the API.", {
      code: "invalid_request_error",
    });
  }
  const unknown = Object.keys(message).find((key) => !MESSAGE.has(key) && !(thinks && key === "reasoning_content"));
  if (unknown !== undefined)
    throw new Refusal(`Additional properties are not allowed ('${unknown}' was unexpected) - 'messages.${index}'`);
}

function checkContent(message: Json, index: number): void {
  const { content } = message;
  if (typeof content === "string") return;
  if (message.role === "assistant" && (content === null || content === undefined) && message.tool_calls !== undefined)
    return;
  if (!Array.isArray(content) || content.length === 0) throw noText(index, content);
  content.forEach((part: unknown, at) => {
    if (!isObject(part) || typeof part.type !== "string")
      throw new Refusal(`Missing required parameter: 'messages[${index}].content[${at}].type'.`);
  });
}

function callsOf(message: Json, index: number): Set<string> {
  const calls = message.tool_calls;
  if (calls === undefined) return new Set();
  const path = `messages[${index}].tool_calls`;
  if (!Array.isArray(calls) || calls.length === 0) {
    throw new Refusal(
      `Invalid '${path}': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
      { code: "empty_array" },
    );
  }
  const ids = calls.map((call: unknown, at) => {
    if (!isObject(call) || call.type !== "function" || !isObject(call.function))
      throw new Refusal(`Missing required parameter: '${path}[${at}].type'.`);
    if (typeof call.id !== "string") throw new Refusal(`Missing required parameter: '${path}[${at}].id'.`);
    if (call.id.length > MAX.id) throw tooLong(`${path}[${at}].id`, MAX.id, call.id.length);
    checkFunctionName(call.function.name, `${path}[${at}].function.name`);
    if (typeof call.function.arguments !== "string") {
      throw new Refusal(
        `Invalid type for '${path}[${at}].function.arguments': expected a string, but got an object instead.`,
        { code: "invalid_type" },
      );
    }
    return call.id;
  });
  return new Set(ids);
}

const tooLong = (path: string, max: number, length: number): Refusal =>
  new Refusal(
    `Invalid '${path}': string too long. Expected a string with maximum length ${max}, but got a string with length ${length} instead.`,
    {
      code: "string_above_max_length",
      param: path,
    },
  );

function checkFunctionName(name: unknown, path: string): void {
  if (typeof name !== "string")
    throw new Refusal(`Missing required parameter: '${path}'.`, { code: "missing_required_parameter", param: path });
  if (name.length > MAX.name) throw tooLong(path, MAX.name, name.length);
  if (NAME.test(name)) return;
  throw new Refusal(
    `Invalid '${path}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
    {
      code: "invalid_value",
      param: path,
    },
  );
}

function checkTools({ model, tools, tool_choice: choice, parallel_tool_calls: parallel }: Json): void {
  if (tools === undefined) {
    if (choice !== undefined)
      throw new Refusal("Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.");
    if (parallel !== undefined)
      throw new Refusal(
        "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.",
      );
    return;
  }
  if (!Array.isArray(tools) || tools.length === 0) {
    throw new Refusal(
      "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      { code: "empty_array" },
    );
  }
  if (tools.length > MAX.tools) {
    const message = `Invalid 'tools': array too long. Expected an array with maximum length ${MAX.tools}, but got an array with length ${tools.length} instead.`;
    throw new Refusal(message, { code: "array_above_max_length", param: "tools" });
  }
  tools.forEach((tool: unknown, index) => {
    if (!isObject(tool) || tool.type !== "function" || !isObject(tool.function))
      throw new Refusal(`Missing required parameter: 'tools[${index}].function'.`);
    const { name, description, parameters } = tool.function;
    checkFunctionName(name, `tools[${index}].function.name`);
    // OpenAI's own limit: servers of its protocol have none.
    if (/^(gpt|o\d)/.test(String(model)) && typeof description === "string" && description.length > MAX.description) {
      throw tooLong(`tools[${index}].function.description`, MAX.description, description.length);
    }
    const fault = parameters === undefined ? undefined : openAiSchemaFault(String(name), parameters);
    if (fault !== undefined)
      throw new Refusal(fault, { code: "invalid_function_parameters", param: `tools[${index}].function.parameters` });
  });
}
