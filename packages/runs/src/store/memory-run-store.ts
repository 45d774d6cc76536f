import type { RunStore } from "../run-store.ts";
import { openSqliteRunStore } from "./open-sqlite-run-store.ts";

/** Runs of this process alone, which end with it. SQLite is loaded with the first one, as Node 22 warns of it. */
export function createMemoryRunStore(): RunStore {
  let opened: Promise<RunStore> | undefined;
  return {
    forgetsMs: 0,
    async create(run) {
      opened ??= openSqliteRunStore(undefined).catch((error: unknown) => {
        opened = undefined; // the next one tries anew
        throw error;
      });
      return (await opened).create(run);
    },
    read: async (key) => (await opened)?.read(key),
    replace: async (...change) => (await opened)?.replace(...change) ?? false,
    due: async (...asked) => (await opened)?.due(...asked) ?? { runs: [], nextMs: undefined },
    open: async (...asked) => (await opened)?.open(...asked) ?? [],
    ended: async (...asked) => (await opened)?.ended(...asked) ?? [],
    now: async () => Date.now(),
    async [Symbol.asyncDispose]() {
      await (await opened)?.[Symbol.asyncDispose]();
    },
  };
}
