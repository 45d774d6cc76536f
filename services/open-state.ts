import type { SharedRecords } from "@rockbot/records/shared";
import type { BusStartParts, State } from "./define-service.ts";

type OpenedState = Pick<
  BusStartParts<never>,
  | "rates"
  | "blobs"
  | "claims"
  | "leases"
  | "trustStore"
  | "journals"
  | "mcpSessions"
  | "schedules"
  | "workingMemory"
  | "turnStore"
  | "summaryStore"
  | "tasks"
  | "pageStore"
  | "taskOwners"
>;

/**
 * What a service remembers in Redis, of the kinds that its entry names and of no other, so that an entry that forgets
 * one is found by its tests. Claims are opened when the first tool with effects asks for them.
 * @throws {StoreUnavailableError} if Redis refuses: a wrong password, missing rights
 */
export async function openState(state: readonly State[], records: SharedRecords): Promise<OpenedState> {
  const has = (kind: State): boolean => state.includes(kind);
  return {
    claims: has("claims") ? () => records.claims() : undefined,
    rates: has("rates") ? await records.rates() : undefined,
    blobs: has("blobs") ? await records.blobs() : undefined,
    leases: has("leases") ? await records.leases() : undefined,
    journals: has("journals") ? await records.journals() : undefined,
    mcpSessions: has("mcpSessions")
      ? await records.open("sessions of MCP clients", async (...at) =>
          (await import("@rockbot/mcp/serve/redis")).connectRedisSharedSessions(...at),
        )
      : undefined,
    trustStore: has("trust")
      ? await records.open("trust", async (...at) =>
          (await import("@rockbot/mcp/trust/redis")).connectRedisTrustStore(...at),
        )
      : undefined,
    schedules: has("schedules")
      ? await records.open("schedules", async (...at) =>
          (await import("./scheduler/src/store/redis/index.ts")).connectRedisScheduleStore(...at),
        )
      : undefined,
    workingMemory: has("memory")
      ? await records.open("working memory", async (...at) =>
          (await import("@rockbot/memory/redis")).connectRedisWorkingMemory(...at),
        )
      : undefined,
    summaryStore: has("summaries")
      ? await records.open("summaries", async (...at) =>
          (await import("@rockbot/search/redis")).connectRedisSummaryStore(...at),
        )
      : undefined,
    tasks: has("tasks")
      ? await records.open("tasks", async (...at) =>
          (await import("./gateway/src/a2a/store/redis/index.ts")).connectRedisTaskStore(...at),
        )
      : undefined,
    pageStore: has("pages")
      ? await records.open("pages", async (...at) =>
          (await import("@rockbot/records/pages/redis")).connectRedisPageStore(...at),
        )
      : undefined,
    taskOwners: has("owners")
      ? await records.open("owners of tasks", async (url, options) =>
          (await import("@rockbot/memory/redis")).connectRedisWorkingMemory(url, {
            ...options,
            prefix: "rockbot:owners",
          }),
        )
      : undefined,
    turnStore: has("turns")
      ? await records.open("turns", async (...at) =>
          (await import("@rockbot/agent/redis")).connectRedisTurnStore(...at),
        )
      : undefined,
  };
}
