import { isRecord } from "@rockbot/base";
import type { ChatMessage, ChatToolCall } from "@rockbot/contracts";

/** A fault of a request, and where it is, such as `messages[2].content[0]`. */
export interface RequestFault {
  readonly param: string;
  readonly message: string;
}

/**
 * The messages of a request as the agent takes them: all, or only the last. What cannot be taken is added to `faults`.
 */
export function readMessages(
  value: unknown,
  faults: RequestFault[],
  { onlyLast = false }: { readonly onlyLast?: boolean } = {},
): ChatMessage[] {
  if (!Array.isArray(value) || value.length === 0) {
    faults.push({ param: "messages", message: "expected a list of at least one message" });
    return [];
  }
  const first = onlyLast ? value.length - 1 : 0;
  return value
    .slice(first)
    .flatMap((message, index) => readMessage(message, `messages[${first + index}]`, faults) ?? []);
}

const roles: Readonly<Record<string, ChatMessage["role"]>> = {
  system: "system",
  developer: "system",
  user: "user",
  assistant: "assistant",
  tool: "tool",
};

function readMessage(value: unknown, param: string, faults: RequestFault[]): ChatMessage | undefined {
  if (!isRecord(value)) {
    faults.push({ param, message: "expected an object" });
    return undefined;
  }
  const { name, tool_call_id: toolCallId, tool_calls: toolCalls } = value;
  const role =
    typeof value["role"] === "string" && Object.hasOwn(roles, value["role"]) ? roles[value["role"]] : undefined;
  if (role === undefined) {
    const help = value["role"] === "function" ? '. Send the result of a function with the role "tool"' : "";
    faults.push({ param: `${param}.role`, message: `expected one of ${Object.keys(roles).join(", ")}${help}` });
    return undefined;
  }
  const { content, images } = readContent(value["content"], `${param}.content`, faults, role);
  if (content === null && role !== "assistant") faults.push({ param: `${param}.content`, message: "expected a text" });
  if (value["audio"] != null) faults.push({ param: `${param}.audio`, message: "the agent takes no audio. Send text" });
  if (value["function_call"] != null)
    faults.push({ param: `${param}.function_call`, message: "send tool_calls instead" });
  if (role === "tool" && typeof toolCallId !== "string")
    faults.push({ param: `${param}.tool_call_id`, message: "expected the id of the call that this is the result of" });
  return {
    role,
    content,
    ...(images.length === 0 ? {} : { images }),
    ...(role === "assistant" && toolCalls != null
      ? { tool_calls: readToolCalls(toolCalls, `${param}.tool_calls`, faults) }
      : {}),
    ...(role === "tool" && typeof toolCallId === "string" ? { tool_call_id: toolCallId } : {}),
    ...(typeof name === "string" && name !== "" ? { name } : {}),
  };
}

const IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;

/** A text, or parts that are texts and, of a user, images. */
function readContent(value: unknown, param: string, faults: RequestFault[], role: ChatMessage["role"]) {
  const images: string[] = [];
  if (typeof value === "string" || value == null) return { content: value ?? null, images };
  if (!Array.isArray(value)) {
    faults.push({ param, message: "expected a text or a list of parts" });
    return { content: "", images };
  }
  const texts = value.flatMap((part, index) => {
    const at = `${param}[${index}]`;
    if (role !== "user" || !isRecord(part) || part["type"] !== "image_url") return [readPart(part, at, faults)];
    images.push(readImage(part["image_url"], `${at}.image_url`, faults));
    return [];
  });
  return { content: texts.join("\n"), images };
}

/** The data URL of an image. The agent fetches none: what is at an address are not the caller's words. */
function readImage(value: unknown, param: string, faults: RequestFault[]): string {
  const url = isRecord(value) ? value["url"] : value;
  if (typeof url === "string" && IMAGE.test(url)) return url;
  faults.push({
    param,
    message: "expected a data URL of a PNG, JPEG, GIF or WebP image in base64. Send the image itself, not its address",
  });
  return "";
}

function readPart(part: unknown, param: string, faults: RequestFault[]): string {
  const { type, text, refusal } = isRecord(part) ? part : {};
  if ((type === "text" || type === undefined) && typeof text === "string") return text;
  if (type === "refusal" && typeof refusal === "string") return refusal;
  const kind = typeof type === "string" && type !== "text" ? ` of the type ${JSON.stringify(type.slice(0, 40))}` : "";
  faults.push({
    param,
    message: `the agent takes text, and images of a user, and cannot take a part${kind}. Send text; the agent reads pages by their addresses`,
  });
  return "";
}

function readToolCalls(value: unknown, param: string, faults: RequestFault[]): ChatToolCall[] {
  if (!Array.isArray(value)) {
    faults.push({ param, message: "expected a list" });
    return [];
  }
  return value.flatMap((call, index) => {
    const { id, type = "function", function: called } = isRecord(call) ? call : {};
    const { name, arguments: args = "" } = isRecord(called) ? called : {};
    if (typeof id === "string" && type === "function" && typeof name === "string" && typeof args === "string")
      return [{ id, name, arguments: args }];
    faults.push({
      param: `${param}[${index}]`,
      message: "expected a call of the type function: its id, and its name and arguments as text",
    });
    return [];
  });
}
