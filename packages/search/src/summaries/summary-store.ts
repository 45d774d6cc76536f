import { RecentMap } from "@rockbot/base";

/** Keeps the summaries of services by the hash of what they were made of. */
export interface SummaryStore extends AsyncDisposable {
  get(hash: string): Promise<string | undefined>;
  set(hash: string, summary: string): Promise<void>;
}

const MAX_KEPT = 2_000;

/** Keeps them as long as this process lives; of many, the newest. */
export function createMemorySummaryStore(): SummaryStore {
  const kept = new RecentMap<string, string>(MAX_KEPT);
  return {
    get: async (hash) => kept.get(hash),
    async set(hash, summary) {
      kept.set(hash, summary);
    },
    async [Symbol.asyncDispose]() {},
  };
}
