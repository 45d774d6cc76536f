import type { Logger } from "@rockbot/bus";
import type { KeepOptions, OwnedMemory } from "../working-memory.ts";
import { type ResultNames, resultKey } from "./result-keys.ts";
import { TTL_MS } from "./size-bounds.ts";
import { memoryReaders } from "./size-layer.ts";

/** A result that a model has read, and whose words it is. */
export interface WholeResult
  extends Omit<ResultNames, "url">,
    Pick<KeepOptions, "isUntrusted" | "isApproved" | "origin"> {
  readonly content: string;
}

/**
 * Keeps a result of which the model's context has to lose a part.
 * @returns its key; nothing if it is memory's own, or the memory does not take it
 */
export async function keepWhole(
  { memory, namespace, log }: { readonly memory: OwnedMemory; readonly namespace: string; readonly log: Logger },
  { toolName, toolCallId, content, origin, ...taint }: WholeResult,
): Promise<string | undefined> {
  if (memoryReaders.has(toolName)) return undefined;
  const key = `${resultKey(namespace, { toolName, toolCallId, url: undefined })}-whole`;
  const options = {
    ttlMs: TTL_MS,
    category: "tool-result",
    isChunk: true,
    ...taint,
    ...(taint.isUntrusted ? { origin: origin?.slice(0, 2048) } : {}),
  };
  try {
    await memory.setAll([{ key, value: content }], options);
    return key;
  } catch (error) {
    log.warn(
      { tool: toolName, reason: error instanceof Error ? error.message : String(error) },
      "could not keep a result that is cut",
    );
    return undefined;
  }
}
