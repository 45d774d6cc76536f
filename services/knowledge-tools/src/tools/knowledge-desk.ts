import type { Logger } from "@rockbot/bus";
import { saidBy, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import type { Meanings } from "@rockbot/search";
import type { Reader } from "../item/reader.ts";
import type { KnowledgeStore } from "../store/knowledge-store.ts";

/** What the tools share. */
export interface KnowledgeDesk {
  readonly store: KnowledgeStore;
  /** The kinds that items may have; the first is that of an item that names none. */
  readonly kinds: readonly string[];
  /** What ranks the items that words have found by their meaning, too. */
  readonly meanings: Meanings | undefined;
  readonly maxItemsPerCaller: number;
  readonly maxBytesPerCaller: number;
  /** What a caller may read by the policy in force. */
  readonly readerOf: (caller: string) => Reader;
  /** Called when something was saved. */
  readonly onSaved: () => void;
  /** The clock, in Unix milliseconds. */
  readonly now: () => number;
}

/**
 * Runs what uses the store. The log gets the reason, which is the operator's.
 * @throws {ToolError} `unavailable` while the database is away, or refuses
 */
export async function withStore<T>(what: string, log: Logger, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    log.warn({ reason: error.message }, "the database of the knowledge base is away, or refuses");
    throw new ToolError(
      ToolErrorCode.Unavailable,
      `Cannot ${what}: the database of the knowledge base does not answer. Try again later.`,
      { cause: error },
    );
  }
}

/** For items of which one was read from strangers. */
export const trustOf = (items: readonly { readonly origin: string | undefined }[]) => {
  const origin = items.find((item) => item.origin !== undefined)?.origin;
  return origin === undefined ? {} : { trust: saidBy(origin) };
};

export const isoTime = (ms: number): string => new Date(ms).toISOString();
