// Work that one process at a time may do.

export { Lease, type LeaseOptions } from "./lease.ts";

// Which process may. A store in Redis comes from ./redis, so that only its users load the client.

export { type LeaseClaim, type LeaseHolder, type LeaseNote, type LeaseStore, MAX_NOTE_LENGTH } from "./lease-store.ts";
