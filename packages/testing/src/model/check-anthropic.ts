import type { IncomingHttpHeaders } from "node:http";
import type { ModelFault } from "./model-script.ts";
import { anthropicSchemaFault, isObject } from "./schema-faults.ts";

type Json = Readonly<Record<string, unknown>>;

const ID = /^[a-zA-Z0-9_-]+$/;
const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const MAX_BREAKPOINTS = 4;
/** What the API takes. @see https://docs.anthropic.com/en/api/messages */
const ARGUMENTS = new Set(
  "model messages max_tokens system tools tool_choice stream temperature top_p top_k stop_sequences metadata thinking service_tier container mcp_servers context_management output_config cache_control inference_geo".split(
    " ",
  ),
);

class Refusal extends Error {}

/** The first reason for which Anthropic's API would answer a message request with 400, in its words. */
export function checkAnthropic(body: Json, headers: IncomingHttpHeaders): ModelFault | undefined {
  try {
    if (headers["anthropic-version"] === undefined) throw new Refusal("anthropic-version: header is required");
    for (const name of Object.keys(body))
      if (!ARGUMENTS.has(name)) throw new Refusal(`${name}: Extra inputs are not permitted`);
    if (body.max_tokens === undefined) throw new Refusal("max_tokens: Field required");
    if (!Number.isInteger(body.max_tokens)) throw new Refusal("max_tokens: Input should be a valid integer");
    if ((body.max_tokens as number) < 1) throw new Refusal("max_tokens: Input should be greater than or equal to 1");
    checkSystem(body.system);
    checkMessages(body.messages, body.tools !== undefined);
    checkTools(body);
    checkBreakpoints(body);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return { status: 400, message: error.message, type: "invalid_request_error" };
    throw error;
  }
}

function checkSystem(system: unknown): void {
  if (system === undefined || typeof system === "string") return;
  if (!Array.isArray(system)) throw new Refusal("system: Input should be a valid list");
  system.forEach((block: unknown, index) => {
    checkText(block, `system.${index}`, "system: text content blocks must be non-empty");
  });
}

function checkText(block: unknown, path: string, empty: string): void {
  if (!isObject(block) || typeof block.text !== "string") throw new Refusal(`${path}.text: Field required`);
  if (block.text === "" && block.cache_control !== undefined)
    throw new Refusal(`${path}.cache_control: cache_control cannot be set for empty text blocks`);
  if (block.text === "") throw new Refusal(empty);
  if (block.text.trim() === "") throw new Refusal(empty.replace("be non-empty", "contain non-whitespace text"));
}

const blocksOf = (content: unknown): readonly unknown[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : Array.isArray(content) ? content : [];

function checkMessages(messages: unknown, hasTools: boolean): void {
  if (messages === undefined) throw new Refusal("messages: Field required");
  if (!Array.isArray(messages)) throw new Refusal("messages: Input should be a valid list");
  if (messages.length === 0) throw new Refusal("messages: at least one message is required");
  const used = new Set<string>();
  let open: string[] = [];
  messages.forEach((message: unknown, index) => {
    if (!isObject(message)) throw new Refusal(`messages.${index}: Input should be a valid dictionary`);
    checkRole(message.role, index);
    const blocks = blocksOf(message.content);
    if (blocks.length === 0) {
      if (message.role === "assistant" && index === messages.length - 1) return;
      throw new Refusal(
        `messages.${index}: all messages must have non-empty content except for the optional final assistant message`,
      );
    }
    if (message.role === "user") {
      checkResults(blocks, index, open);
      open = [];
    }
    const called = blocks.flatMap((block, at) =>
      checkBlock(block, { path: `messages.${index}.content.${at}`, role: String(message.role), used }),
    );
    if (open.length > 0) throw unanswered(index - 1, open);
    if (called.length > 0 && !hasTools)
      throw new Refusal("Requests which include `tool_use` or `tool_result` blocks must define tools");
    open = called;
  });
  if (open.length > 0) throw unanswered(messages.length - 1, open);
  const last = blocksOf((messages.at(-1) as Json).content).at(-1);
  if (
    (messages.at(-1) as Json).role === "assistant" &&
    isObject(last) &&
    typeof last.text === "string" &&
    /\s$/.test(last.text)
  ) {
    throw new Refusal("messages: final assistant content cannot end with trailing whitespace");
  }
}

const unanswered = (index: number, ids: readonly string[]): Refusal =>
  new Refusal(
    `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );

function checkRole(role: unknown, index: number): void {
  if (role === "system") {
    throw new Refusal(
      'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
    );
  }
  if (role !== "user" && role !== "assistant")
    throw new Refusal(`messages.${index}.role: Input should be 'user' or 'assistant'`);
  if (index === 0 && role !== "user") throw new Refusal('messages: first message must use the "user" role');
}

/** Results stand first, one for each call of the message before. */
function checkResults(blocks: readonly unknown[], index: number, open: readonly string[]): void {
  const seen = new Set<string>();
  let isBeyondResults = false;
  blocks.forEach((block, at) => {
    if (!isObject(block) || block.type !== "tool_result") {
      isBeyondResults = true;
      return;
    }
    const id = String(block.tool_use_id);
    if (!open.includes(id)) {
      throw new Refusal(
        `messages.${index}.content.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    }
    if (seen.has(id))
      throw new Refusal(
        `messages.${index}.content.${at}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      );
    if (isBeyondResults) throw unanswered(index - 1, [id]);
    seen.add(id);
  });
  const missing = open.filter((id) => !seen.has(id));
  if (missing.length > 0) throw unanswered(index - 1, missing);
}

/** @returns the id of a call */
function checkBlock(
  block: unknown,
  { path, role, used }: { readonly path: string; readonly role: string; readonly used: Set<string> },
): string[] {
  if (!isObject(block)) throw new Refusal(`${path}: Input should be a valid dictionary`);
  switch (block.type) {
    case "text":
      checkText(block, `${path}.text`, "messages: text content blocks must be non-empty");
      return [];
    case "tool_use": {
      if (role !== "assistant") throw new Refusal(`${path}: \`tool_use\` blocks can only be in \`assistant\` messages`);
      const id = String(block.id);
      if (!ID.test(id)) throw new Refusal(`${path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
      if (used.has(id)) throw new Refusal(`${path}: \`tool_use\` ids must be unique`);
      used.add(id);
      if (!NAME.test(String(block.name)))
        throw new Refusal(`${path}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
      if (!isObject(block.input)) throw new Refusal(`${path}.tool_use.input: Input should be a valid dictionary`);
      return [id];
    }
    case "tool_result":
    case "thinking":
    case "redacted_thinking":
    case "image":
    case "document":
      if (block.type === "tool_result" && role !== "user")
        throw new Refusal(`${path}: \`tool_result\` blocks can only be in \`user\` messages`);
      return [];
    default:
      throw new Refusal(
        `${path}: Input tag '${block.type}' found using 'type' does not match any of the expected tags`,
      );
  }
}

function checkTools({ tools, tool_choice: choice }: Json): void {
  if (tools === undefined) {
    if (choice !== undefined)
      throw new Refusal("tool_choice: tool_choice may only be specified while providing tools.");
    return;
  }
  if (!Array.isArray(tools)) throw new Refusal("tools: Input should be a valid list");
  const names = new Set<unknown>();
  tools.forEach((tool: unknown, index) => {
    if (!isObject(tool)) throw new Refusal(`tools.${index}: Input should be a valid dictionary`);
    if (!NAME.test(String(tool.name)))
      throw new Refusal(`tools.${index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
    if (names.has(tool.name)) throw new Refusal("tools: Tool names must be unique.");
    names.add(tool.name);
    const fault = anthropicSchemaFault(index, tool.input_schema);
    if (fault !== undefined) throw new Refusal(fault);
  });
}

function checkBreakpoints(body: Json): void {
  const found = JSON.stringify([body.tools, body.system, body.messages]).split('"cache_control":{').length - 1;
  if (found > MAX_BREAKPOINTS)
    throw new Refusal(`A maximum of ${MAX_BREAKPOINTS} blocks with cache_control may be provided. Found ${found}.`);
}
