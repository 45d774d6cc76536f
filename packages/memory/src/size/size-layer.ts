import { isWithinPair } from "@rockbot/base";
import type { ToolInvokeRequest, ToolInvokeResponse, ToolOutput } from "@rockbot/contracts";
import type { ToolContext, ToolLayer } from "@rockbot/tools";
import { chunkContent } from "../chunks/chunk-content.ts";
import { outlineOf } from "../chunks/outline-of.ts";
import { MAX_TTL_MS } from "../memory-limits.ts";
import type { OwnedMemory } from "../working-memory.ts";
import { countTokens } from "./count-tokens.ts";
import { indexText } from "./index-text.ts";
import { resultKey, urlIn } from "./result-keys.ts";
import { type SizeBounds, type SizeBoundsOf, sizeBounds } from "./size-bounds.ts";

/** The session that results are for, and what is too large for its model. */
export interface SizeLayerOptions {
  /** Where large results go. Without it, or without a namespace, they are cut. */
  readonly memory?: OwnedMemory | undefined;
  /** The session's namespace. */
  readonly namespace?: string | undefined;
  /** @default those of `sizeBounds()` */
  readonly threshold?: SizeBoundsOf | undefined;
  /** Tools whose results come as they are, as they fit by themselves. @default those that read working memory */
  readonly exempt?: ((toolName: string) => boolean) | undefined;
}

/** What size layers have said, by `structured` of the response: a tool can write the same, and is not believed. */
const said = new WeakMap<object, ToolOutput>();

/** Where the result of a call is that a size layer found too large. Nothing of any other. */
export const toolOutputIn = (structured: ToolInvokeResponse["structured"]): ToolOutput | undefined =>
  said.get(Object(structured));

/** A larger text is cut into larger chunks, so that there are about as many: the memory of a session has a bound. */
const MANY_CHUNKS = 1_000;

/** Tools whose results are in working memory already. */
export const memoryReaders: ReadonlySet<string> = new Set([
  "get_from_working_memory",
  "search_working_memory",
  "list_working_memory",
]);

/**
 * Keeps what a model cannot read at once out of its context. A result above the tool's threshold goes to working memory
 * in chunks, and the model gets an index of them. Where there is no memory, or it is full or away, the result is cut,
 * and says so. This is the one place that shortens. Chunks of an untrusted result are untrusted. Keys and texts follow
 * from the call, so that a replayed call gives the same.
 */
export function sizeLayer(options: SizeLayerOptions): ToolLayer {
  const { threshold = sizeBounds(), exempt = (toolName: string) => memoryReaders.has(toolName) } = options;
  return (next) => ({
    async execute(request, context) {
      const response = await next.execute(request, context);
      if (exempt(request.toolName)) return response;
      const text = response.content ?? (response.structured === undefined ? "" : JSON.stringify(response.structured));
      const bounds = threshold(request.toolName, context.resultSize);
      if (text.length <= bounds.threshold) return response;
      const facts = {
        reason: "size_limit_exceeded" as const,
        bytes: Buffer.byteLength(text),
        lines: linesOf(text),
        tokens: countTokens(text),
      };
      const stored = await store(text, { request, response, context, bounds, ...options });
      const output: ToolOutput = { ...(stored === undefined ? {} : { handle: stored.indexKey }), ...facts };
      const structured = { tool_output: output };
      said.set(structured, output);
      return { ...response, content: stored?.content ?? truncated(text, bounds.threshold), structured };
    },
  });
}

interface Storing extends SizeLayerOptions {
  readonly request: ToolInvokeRequest;
  readonly response: ToolInvokeResponse;
  readonly context: ToolContext;
  readonly bounds: SizeBounds;
}

/**
 * Puts a text into working memory, in chunks and with an index.
 * @returns what the model gets; nothing if the memory does not take it
 */
async function store(
  text: string,
  { memory, namespace, request, response, context, bounds }: Storing,
): Promise<{ content: string; indexKey: string } | undefined> {
  if (memory === undefined || namespace === undefined) return undefined;
  const { toolName, toolCallId } = request;
  const isWeb = bounds.isOfUrl === true;
  const key = resultKey(namespace, { toolName, toolCallId, url: isWeb ? urlIn(request.arguments) : undefined });
  const keyOf = (index: number): string => `${key}-chunk${index}`;
  const indexKey = `${key}-index`;
  const chunks = chunkContent(text, {
    maxLength: Math.max(64, bounds.chunkLength, Math.ceil(text.length / MANY_CHUNKS)),
  });
  const isUntrusted = response.trust?.level === "untrusted";
  const entries = [
    ...chunks.map((chunk, index) => ({ key: keyOf(index), value: chunk.text })),
    { key: indexKey, value: outlineOf(chunks, keyOf) },
  ];
  try {
    await memory.setAll(entries, {
      ttlMs: Math.min(bounds.ttlMs, MAX_TTL_MS),
      category: isWeb ? "web" : "tool-result",
      isUntrusted,
      isApproved: response.trust?.isApproved,
      ...(isUntrusted ? { origin: response.trust?.origin.slice(0, 2048) } : {}),
      isChunk: true,
    });
    if (isWeb) await removeChunks(memory, key, chunks.length);
  } catch (error) {
    context.log.warn(
      { tool: toolName, characters: text.length, reason: error instanceof Error ? error.message : String(error) },
      "cuts a large result, as working memory does not take it",
    );
    return undefined;
  }
  return { content: indexText({ toolName, length: text.length, chunks, keyOf, indexKey }, bounds.threshold), indexKey };
}

/** Removes the chunks from that number on of an earlier result under the same key. */
async function removeChunks(memory: OwnedMemory, key: string, from: number): Promise<void> {
  const prefix = `${key}-chunk`;
  const old = (await memory.list(prefix)).filter((entry) => Number(entry.key.slice(prefix.length)) >= from);
  await Promise.all(old.map((entry) => memory.delete(entry.key)));
}

function truncated(text: string, threshold: number): string {
  const kept = text.slice(0, isWithinPair(text, threshold) ? threshold - 1 : threshold);
  return `${kept}\n[result truncated — ${text.length - kept.length} chars omitted]`;
}

function linesOf(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < text.length - 1; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}
