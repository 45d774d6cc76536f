// What one process at a time may do.
export { Lease, type LeaseOptions } from "./lease.ts";
// Who may. A store in Redis comes from ./redis, so that only who wants it loads its client.
export { type LeaseClaim, type LeaseHolder, type LeaseNote, type LeaseStore, MAX_NOTE_LENGTH } from "./lease-store.ts";
