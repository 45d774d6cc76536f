export { SharedRecords, type SharedRecordsOptions } from "./shared-records.ts";
