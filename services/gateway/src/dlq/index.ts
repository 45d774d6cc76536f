// The messages that no service could handle, for operators.

export { createDlqApp, DLQ_PATH } from "./dlq-app.ts";
export type { DlqEvent, Replayed } from "./dlq-event.ts";
export { type DlqFields, type DlqRequest, DlqRequestError, dlqFields, readDlqRequest } from "./dlq-request.ts";
export type { ParkedRecord } from "./parked-record.ts";
export { type DlqParts, runDlq } from "./run-dlq.ts";
