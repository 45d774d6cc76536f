import { withRun } from "@rockbot/gateway";
import { connectRedisJournalStore } from "@rockbot/records/journal/redis";
import { connectRedisRunStore } from "@rockbot/runs/redis";
import { CommandError } from "../../command-error.ts";
import { plainText } from "../../terminal/plain-text.ts";
import { UsageError } from "../../usage-error.ts";
import type { CallSource } from "./call-source.ts";

/** Reads the journals that callers keep in Redis. */
export async function openRedisCallSource(url: string): Promise<CallSource> {
  const store = await connectRedisJournalStore(url).catch((error: unknown) => {
    if (error instanceof RangeError) throw new UsageError([`--redis: ${error.message}`]);
    throw toCommandError(error);
  });
  await using opened = new AsyncDisposableStack();
  opened.use(store);
  const runs = opened.use(await connectRedisRunStore(url).catch(leftOut));
  const parts = opened.move();
  return {
    where: "the journals in Redis",
    async recent(limit) {
      const { calls } = await store.search({ limit }).catch(rethrow);
      return await Promise.all(calls.map((call) => withRun(call, runs)));
    },
    async find(toolCallId) {
      const { calls } = await store.search({ id: toolCallId, limit: 100 }).catch(rethrow);
      const call = calls.find((each) => each.toolCallId === toolCallId);
      if (call === undefined) return undefined;
      const inner = await store.search({ parents: [toolCallId], limit: 100 }).catch(rethrow);
      return { call: await withRun(call, runs), inner: inner.calls };
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

const toCommandError = (error: unknown): CommandError =>
  new CommandError(error instanceof Error ? error.message : String(error));

function rethrow(error: unknown): never {
  throw toCommandError(error);
}

/** A user of the journals alone sees these. */
function leftOut(error: unknown): undefined {
  console.error(plainText(`rockbot: how calls stand that wait is left out: ${toCommandError(error).message}`));
}
