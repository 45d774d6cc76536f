/**
 * The record of which calls have been taken, by whom, and how they ended. It makes execution effectively once: a call
 * that comes a second time finds its claim. Every operation is atomic and ends within the store's deadline.
 *
 *     (none) ── claim ──► claimed(owner, epoch, lease) ── complete ──► done(reply) ── 15 min ──► done(reply forgotten)
 *       │                   │  │                                        │
 *       │                   │  └─ release ──► (none)                    └─ 8 days ──► (none)
 *       │                   └──── cancel ────► cancelled ── 8 days ───► (none)
 *       └──── cancel ────────────────────────► cancelled ── 20 min ───► (none)
 *
 * A lease that is over leaves the record. The next `claim` takes it over under a higher epoch, and its result says so.
 * The holder before can complete it until then, and no longer afterwards. A claim that nobody ever ends is forgotten
 * after 8 days. A store that has lost a record takes it from its holder again, at a renewal or a completion.
 *
 * Every operation rejects with StoreUnavailableError if the store does not answer in time, refuses, or is closed.
 * Nothing is known then about what it did: it may have been done, or be done a moment later. A claim that was made so
 * is held by nobody who knows of it until its lease is over.
 */
export interface ClaimStore extends AsyncDisposable {
  /**
   * Takes the call for `owner`, or says how it stands. A claim by the owner who holds it counts as held. A cancelled
   * call is only reported as cancelled, whatever its request.
   * @throws {RangeError} if `leaseMs` is not a positive whole number
   */
  claim(key: ClaimKey, options: ClaimOptions): Promise<ClaimOutcome>;
  /**
   * Makes the lease hold `leaseMs` from now.
   * @returns false if the call was cancelled, taken over or done
   * @throws {RangeError} as `claim` does
   */
  renew(claim: Claim, leaseMs: number): Promise<boolean>;
  /**
   * Notes how the call ended; `reply` is kept if it has at most MAX_REPLY_BYTES. Doing so again is safe: the first
   * reply stays. @returns false if the call was cancelled or taken over: its result must then be dropped
   */
  complete(claim: Claim, reply: Uint8Array): Promise<boolean>;
  /**
   * Forgets a claim whose call was refused before it started, so that it may come again.
   * @returns false if the claim is no longer this one
   */
  release(claim: Claim): Promise<boolean>;
  /**
   * Cancels the call: one that is not taken yet never will be, one that runs cannot complete any more. A call that is
   * done stays done. A call that nobody has taken is remembered for as long as it could still start; for one caller the
   * newest MAX_UNSEEN_CANCELS. @returns how the call stood before
   */
  cancel(key: ClaimKey): Promise<"unclaimed" | "claimed" | "done" | "cancelled">;
  /** How the call stands, without taking it; undefined if there is no record. */
  look(key: ClaimKey): Promise<ClaimView | undefined>;
}

/** Nobody can touch another's call: the caller is part of the key. */
export interface ClaimKey {
  /** The effective caller. */
  readonly caller: string;
  readonly toolCallId: string;
}

/** The owner of a claim, its request, and how long it holds without a renewal. */
export interface ClaimOptions {
  /** The process that takes it: unique to a running process. */
  readonly owner: string;
  /** The hash of tool name and arguments: the same id with others is a conflict. */
  readonly requestHash: string;
  /** The claim holds this long from now unless renewed, in milliseconds. */
  readonly leaseMs: number;
}

/** The right to run a call, for as long as its lease holds. */
export interface Claim extends Pick<ClaimOptions, "owner" | "requestHash"> {
  readonly key: ClaimKey;
  /** Rises each time the record is taken over. */
  readonly epoch: number;
}

/** How a call stands after an attempt to claim it. */
export type ClaimOutcome =
  /**
   * Taken now. `isTakenOver`: somebody held it, and their lease is over; the call may have run. `remembersSince`: since
   * when the store has certainly forgotten nothing, on the clock of `performance.now()`. A call that somebody may have
   * taken earlier may have run although there is no record of it.
   */
  | { readonly state: "taken"; readonly claim: Claim; readonly isTakenOver: boolean; readonly remembersSince: number }
  /** Somebody holds it, perhaps this owner; the lease has this long to go. */
  | { readonly state: "held"; readonly owner: string; readonly leaseLeftMs: number }
  /** It has ended. The reply is absent if it was too large to keep, or is kept no longer. */
  | { readonly state: "done"; readonly reply: Uint8Array | undefined }
  | { readonly state: "cancelled" }
  /** The id is taken by a call with another tool or other arguments. */
  | { readonly state: "conflict" };

/** How a call stands for a service that watches it. */
export type ClaimView = Extract<ClaimOutcome, { state: "held" | "done" | "cancelled" }> | { readonly state: "lapsed" };

/** A larger reply is not kept; that the call is done is. */
export const MAX_REPLY_BYTES = 256 * 1024;
/** How long a store keeps the reply of a call, in milliseconds. */
export const REPLY_KEPT_MS = 15 * 60_000;
/** How long a call is remembered after its claim was taken or renewed last, also if it was cancelled then. */
export const RECORD_KEPT_MS = 8 * 24 * 3_600_000;
/** How long it is remembered that a call was cancelled which nobody had taken: no call waits longer to be started. */
export const UNSEEN_CANCEL_KEPT_MS = 20 * 60_000;
/**
 * The most such calls of one caller, the newest: a caller that cancels calls it never made does not fill the memory.
 */
export const MAX_UNSEEN_CANCELS = 2_000;
