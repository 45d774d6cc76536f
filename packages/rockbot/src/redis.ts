// What processes remember together, in Redis. Its client, ioredis, is loaded with the first store that is opened.
export { StoreUnavailableError } from "@rockbot/records";
export type { BlobStore } from "@rockbot/records/blobs";
export type { ClaimStore } from "@rockbot/records/claims";
export type { JournalStore } from "@rockbot/records/journal";
export type { LeaseStore } from "@rockbot/records/leases";
export type { RateStore } from "@rockbot/records/rates";
export { RedisClientMissingError, SharedRecords, type SharedRecordsOptions } from "@rockbot/records/shared";
