import { type CallRecord, shownRecord } from "@rockbot/records/journal";
import { connectRedisJournalStore } from "@rockbot/records/journal/redis";
import { CommandError } from "../../command-error.ts";
import { UsageError } from "../../usage-error.ts";
import type { CallSource } from "./call-source.ts";

/** Reads the journals that callers keep in Redis. */
export async function openRedisCallSource(url: string): Promise<CallSource> {
  const store = await connectRedisJournalStore(url).catch((error: unknown) => {
    if (error instanceof RangeError) throw new UsageError([`--redis: ${error.message}`]);
    throw toCommandError(error);
  });
  return {
    where: "the journals in Redis",
    async recent(limit) {
      const calls: CallRecord[] = [];
      for (const caller of await store.readCallers().catch(rethrow))
        calls.push(...(await store.readRecent(caller, limit).catch(rethrow)));
      return calls
        .sort((a, b) => (b.steps[0]?.at ?? 0) - (a.steps[0]?.at ?? 0))
        .slice(0, limit)
        .map(shownRecord);
    },
    async find(toolCallId) {
      for (const caller of await store.readCallers().catch(rethrow)) {
        const call = await store.read(caller, toolCallId).catch(rethrow);
        if (call !== undefined) return shownRecord(call);
      }
      return undefined;
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

const toCommandError = (error: unknown): CommandError =>
  new CommandError(error instanceof Error ? error.message : String(error));

function rethrow(error: unknown): never {
  throw toCommandError(error);
}
