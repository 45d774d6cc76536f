// What processes remember together, in Redis. Its client, ioredis, is loaded with the first store that is opened.
import type { SharedRecords } from "@rockbot/records/shared";
import type { RunStore } from "@rockbot/runs";

export { StoreUnavailableError } from "@rockbot/records";
export type { BlobStore } from "@rockbot/records/blobs";
export type { ClaimStore } from "@rockbot/records/claims";
export type { JournalStore } from "@rockbot/records/journal";
export type { LeaseStore } from "@rockbot/records/leases";
export type { RateStore } from "@rockbot/records/rates";
export { RedisClientMissingError, SharedRecords, type SharedRecordsOptions } from "@rockbot/records/shared";
export type { RunStore } from "@rockbot/runs";

/**
 * The calls that wait for people, or run detached, for the option `runs` of `serveTools`. `records` closes the store.
 * @returns undefined if `records` has no address
 * @throws {StoreUnavailableError} if Redis refuses
 * @throws {RedisClientMissingError} if ioredis is not installed
 */
export const sharedRuns = (records: SharedRecords): Promise<RunStore | undefined> =>
  records.open("runs", async (...at) => (await import("@rockbot/runs/redis")).connectRedisRunStore(...at));
