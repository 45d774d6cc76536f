import { type CallToolResult, type ContentBlock, isSpecType } from "@modelcontextprotocol/server";
import { isRecord } from "@rockbot/base";
import { redactValue } from "@rockbot/base/redaction";
import { errorReply, type ToolError, type ToolInvokeResponse } from "@rockbot/contracts";
import { describeBlock, describeUnknownBlock } from "../client/call/call-result.ts";
import { VALUE } from "../schema/bus-output.ts";
import { Meta } from "./meta.ts";

/**
 * An answer of the bus as MCP has it, the way back of `callResult`. Blocks that are no text stand again where the text
 * says so, and the rest of `structured` is the structured content.
 */
export function callToolResult({
  toolCallId,
  content,
  structured,
  trust,
  isError = false,
}: ToolInvokeResponse): CallToolResult {
  const { given, rest, $annotations, $meta } = splitStructured(structured ?? {}, content ?? "");
  const unknown = given.filter((block) => !isSpecType.ContentBlock(block));
  const text = content ?? (rest === undefined ? "" : JSON.stringify(rest));
  return {
    content: withBlocks(text, given),
    ...(rest === undefined
      ? {}
      : { structuredContent: whole(rest) as NonNullable<CallToolResult["structuredContent"]> }),
    ...(isError ? { isError } : {}),
    _meta: {
      ...(isRecord($meta) ? $meta : {}),
      [Meta.ToolCallId]: toolCallId,
      ...(trust == null ? {} : { [Meta.Trust]: trust }),
      ...(Array.isArray($annotations) ? { [Meta.Annotations]: $annotations } : {}),
      ...(unknown.length === 0
        ? {}
        : { [Meta.Content]: given.map((block) => (unknown.includes(block) ? block : null)) }),
    },
  };
}

/** A failed call as a result that a model can act on: the error's own words, its code, and when to come back. */
export function errorResult(
  error: ToolError,
  call: { readonly toolCallId: string; readonly toolName: string },
): CallToolResult {
  const reply = redactValue(errorReply(call, error)) as ReturnType<typeof errorReply>;
  const retry = error.retryAfterMs === undefined ? "" : `, try again in ${Math.ceil(error.retryAfterMs)} ms`;
  return {
    content: [{ type: "text", text: `${reply.message}\n(${reply.code}${retry})` }],
    isError: true,
    _meta: {
      [Meta.ToolCallId]: call.toolCallId,
      ...(reply.trust == null ? {} : { [Meta.Trust]: reply.trust }),
      [Meta.Error]: reply,
    },
  };
}

/** Splits off the parts that an MCP server gave beside its text. Fields that only look so stay structured content. */
function splitStructured(structured: Readonly<Record<string, unknown>>, text: string) {
  const { $content = [], $annotations, $meta, ...others } = structured;
  const isGiven = (block: unknown, index: number): boolean =>
    isSpecType.ContentBlock(block) || indexOfLine(text, describeUnknownBlock(block, index)) >= 0;
  const isFromServer = Array.isArray($content) && $content.every(isGiven);
  const given: readonly unknown[] = isFromServer ? $content : [];
  const { $files: _, ...withoutFiles } = others; // a client has the blocks
  const rest = given.length > 0 ? withoutFiles : isFromServer ? others : structured;
  return { given, rest: Object.keys(rest).length === 0 ? undefined : unwrapped(rest), $annotations, $meta };
}

/** The SDK leaves the key "__proto__" out of what it sends, and keeps a function. */
const whole = (structured: unknown): unknown =>
  typeof structured === "object" && structured !== null && Object.hasOwn(structured, "__proto__")
    ? { toJSON: () => structured }
    : structured;

/** Structured content that is no object lies under `$value` on the bus. */
function unwrapped(structured: Readonly<Record<string, unknown>>): unknown {
  const keys = Object.keys(structured);
  return keys.length === 1 && keys[0] === VALUE ? structured[VALUE] : structured;
}

/** Puts each block in the place of the line that stands for it; those without one come last. */
function withBlocks(text: string, blocks: readonly unknown[]): ContentBlock[] {
  const result: ContentBlock[] = [];
  let rest: string | undefined = text;
  blocks.forEach((block, index) => {
    if (!isSpecType.ContentBlock(block)) return; // no client would take it: its line stays
    const line = describeBlock(block, index);
    const at = rest === undefined ? -1 : indexOfLine(rest, line);
    if (rest !== undefined && at >= 0) {
      if (at > 0) result.push({ type: "text", text: rest.slice(0, at - 1) });
      rest = at + line.length >= rest.length ? undefined : rest.slice(at + line.length + 1);
    }
    result.push(block);
  });
  if (rest !== undefined && (rest !== "" || result.length === 0)) result.push({ type: "text", text: rest });
  return result;
}

/** Where `line` stands in the text as a line, or lines, of its own; -1 if nowhere. */
function indexOfLine(text: string, line: string): number {
  for (let at = text.indexOf(line); at >= 0; at = text.indexOf(line, at + 1)) {
    const end = at + line.length;
    if ((at === 0 || text[at - 1] === "\n") && (end === text.length || text[end] === "\n")) return at;
  }
  return -1;
}
