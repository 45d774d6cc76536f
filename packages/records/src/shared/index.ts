export { RedisClientMissingError } from "./redis-client-missing-error.ts";
export { SharedRecords, type SharedRecordsOptions } from "./shared-records.ts";
