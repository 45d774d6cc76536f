// A caller's memory of its calls.

export { CallJournal, type CallJournalOptions } from "./call-journal.ts";
export type { CallNotes } from "./call-notes.ts";
export {
  ANSWER_KEPT_MS,
  type CallRecord,
  CallState,
  type CallStep,
  isOpen,
  MAX_AGE_MS,
  MAX_CALLS,
  shownRecord,
} from "./call-record.ts";

// What it keeps for operators.

export { digestOf, type KeepRule, type KeptTexts, type TextDigest } from "./kept-texts.ts";

// Where it outlives the caller. A store in Redis comes from ./redis, so that only its users load the client.

export type { JournalStore, SlotClaim } from "./journal-store.ts";
export { type LeaseSlotOptions, leaseSlot, type SlotLease } from "./lease-slot.ts";

// The calls of all callers.

export {
  type CallFilter,
  type CallPage,
  type CallPlace,
  type CallSearch,
  MAX_EXAMINED,
  OPEN,
  ownerOf,
  startOf,
} from "./search-calls.ts";
export { readKept, type SearchedJournal, searchJournals } from "./search-journals.ts";
