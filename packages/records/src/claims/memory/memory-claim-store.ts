import { OldestFirstMap } from "@rockbot/base";
import { StoreUnavailableError } from "../../store-unavailable-error.ts";
import { checkLeaseMs } from "../check-lease-ms.ts";
import { claimKeyText } from "../claim-key-text.ts";
import {
  type Claim,
  type ClaimKey,
  type ClaimOptions,
  type ClaimOutcome,
  type ClaimStore,
  type ClaimView,
  MAX_REPLY_BYTES,
  RECORD_KEPT_MS,
  REPLY_KEPT_MS,
} from "../claim-store.ts";
import { UnseenCancels } from "./unseen-cancels.ts";

/** The clock and the bounds of a claim store in memory. */
export interface MemoryClaimStoreOptions {
  /** Milliseconds that never step back; `remembersSince` is by it, too. @default performance.now */
  readonly clock?: (() => number) | undefined;
  /**
   * Calls remembered at a time. Beyond, the store forgets the oldest of those that have ended, then of those whose
   * lease is over, and its memory is shorter by that. While all are being run, another claim is refused. @default
   * 100_000
   */
  readonly maxRecords?: number | undefined;
  /**
   * All replies together. Beyond, the oldest of the caller with the most is forgotten; that its call is done is not.
   * @default 64 MiB
   */
  readonly maxTotalReplyBytes?: number | undefined;
}

/** Claims in this process: nobody else sees them, and they end with it. */
export function createMemoryClaimStore(options: MemoryClaimStoreOptions = {}): ClaimStore {
  return new MemoryClaimStore(options);
}

interface Held extends Owned {
  readonly leaseUntil: number;
  readonly touchedAt: number;
}

/** Done, or cancelled while it ran. */
interface Ended {
  readonly done: Owned | undefined;
  readonly endedAt: number;
}

/** Whose a record is, and of which request. */
type Owned = Omit<Claim, "key">;

interface Reply {
  readonly caller: string;
  readonly bytes: Uint8Array;
  readonly keptAt: number;
}

/** Each map is in the order of time, oldest first, so that what is over is found at its front, when somebody looks. */
class MemoryClaimStore implements ClaimStore {
  readonly #held = new OldestFirstMap<string, Held>();
  readonly #ended = new OldestFirstMap<string, Ended>();
  readonly #replies = new OldestFirstMap<string, Reply>();
  /** The replies by caller. */
  readonly #repliesOf = new Map<string, { bytes: number; readonly oldestFirst: OldestFirstMap<string, Reply> }>();
  readonly #unseen = new UnseenCancels();
  readonly #clock: () => number;
  readonly #maxRecords: number;
  readonly #maxTotalReplyBytes: number;
  #replyBytes = 0;
  #bornAt: number;
  #isClosed = false;

  constructor({
    clock = () => performance.now(),
    maxRecords = 100_000,
    maxTotalReplyBytes = 64 * 1024 * 1024,
  }: MemoryClaimStoreOptions) {
    if (!Number.isSafeInteger(maxRecords) || maxRecords < 1) {
      throw new RangeError(`Cannot keep claims: maxRecords must be a positive whole number, got ${maxRecords}`);
    }
    if (!Number.isSafeInteger(maxTotalReplyBytes) || maxTotalReplyBytes < 0) {
      throw new RangeError(`Cannot keep claims: maxTotalReplyBytes must be a whole number, got ${maxTotalReplyBytes}`);
    }
    this.#clock = clock;
    this.#maxRecords = maxRecords;
    this.#maxTotalReplyBytes = maxTotalReplyBytes;
    this.#bornAt = clock();
  }

  async claim(key: ClaimKey, { owner, requestHash, leaseMs }: ClaimOptions): Promise<ClaimOutcome> {
    checkLeaseMs(leaseMs);
    const now = this.#begin("take a claim");
    const text = claimKeyText(key);
    const ended = this.#ended.get(text);
    if (ended !== undefined) {
      if (ended.done === undefined) return { state: "cancelled" };
      if (ended.done.requestHash !== requestHash) return { state: "conflict" };
      return { state: "done", reply: this.#reply(text) };
    }
    if (this.#unseen.has(key, now)) return { state: "cancelled" };
    const held = this.#held.get(text);
    if (held !== undefined) {
      if (held.requestHash !== requestHash) return { state: "conflict" };
      if (held.leaseUntil > now)
        return { state: "held", owner: held.owner, leaseLeftMs: Math.ceil(held.leaseUntil - now) };
    } else {
      this.#makeRoom(now);
    }
    const epoch = (held?.epoch ?? 0) + 1;
    this.#held.set(text, { owner, epoch, requestHash, leaseUntil: now + leaseMs, touchedAt: now });
    return {
      state: "taken",
      claim: { key, owner, epoch, requestHash },
      isTakenOver: held !== undefined,
      remembersSince: this.#bornAt,
    };
  }

  async renew(claim: Claim, leaseMs: number): Promise<boolean> {
    checkLeaseMs(leaseMs);
    const now = this.#begin("renew a claim");
    const text = claimKeyText(claim.key);
    const held = this.#held.get(text);
    if (held === undefined ? this.#hasEnded(claim.key, text, now) : !isThis(held, claim)) return false;
    if (held === undefined) this.#makeRoom(now);
    this.#held.set(text, { ...ownedBy(held ?? claim), leaseUntil: now + leaseMs, touchedAt: now });
    return true;
  }

  async complete(claim: Claim, reply: Uint8Array): Promise<boolean> {
    const now = this.#begin("complete a claim");
    const text = claimKeyText(claim.key);
    const held = this.#held.get(text);
    if (held === undefined && this.#hasEnded(claim.key, text, now)) {
      const done = this.#ended.get(text)?.done;
      return done !== undefined && isThis(done, claim);
    }
    if (held !== undefined && !isThis(held, claim)) return false;
    if (!this.#held.delete(text)) this.#makeRoom(now);
    this.#ended.set(text, { done: ownedBy(held ?? claim), endedAt: now });
    if (reply.length <= MAX_REPLY_BYTES)
      this.#keep(text, { caller: claim.key.caller, bytes: new Uint8Array(reply), keptAt: now });
    return true;
  }

  async release(claim: Claim): Promise<boolean> {
    this.#begin("release a claim");
    const text = claimKeyText(claim.key);
    const held = this.#held.get(text);
    return held !== undefined && isThis(held, claim) && this.#held.delete(text);
  }

  async cancel(key: ClaimKey): Promise<"unclaimed" | "claimed" | "done" | "cancelled"> {
    const now = this.#begin("cancel a call");
    const text = claimKeyText(key);
    const ended = this.#ended.get(text);
    if (ended !== undefined) return ended.done === undefined ? "cancelled" : "done";
    if (this.#held.delete(text)) {
      this.#ended.set(text, { done: undefined, endedAt: now });
      return "claimed";
    }
    if (this.#unseen.has(key, now)) return "cancelled";
    this.#unseen.add(key, now);
    return "unclaimed";
  }

  async look(key: ClaimKey): Promise<ClaimView | undefined> {
    const now = this.#begin("look at a call");
    const text = claimKeyText(key);
    const ended = this.#ended.get(text);
    if (ended !== undefined)
      return ended.done === undefined ? { state: "cancelled" } : { state: "done", reply: this.#reply(text) };
    if (this.#unseen.has(key, now)) return { state: "cancelled" };
    const held = this.#held.get(text);
    if (held === undefined) return undefined;
    return held.leaseUntil > now
      ? { state: "held", owner: held.owner, leaseLeftMs: Math.ceil(held.leaseUntil - now) }
      : { state: "lapsed" };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#held.clear();
    this.#ended.clear();
    this.#replies.clear();
    this.#repliesOf.clear();
    this.#unseen.clear();
  }

  /** Forgets what is over. @returns the time */
  #begin(what: string): number {
    if (this.#isClosed) throw new StoreUnavailableError(`Cannot ${what}: the store is closed`);
    const now = this.#clock();
    for (
      let { oldest } = this.#replies;
      oldest !== undefined && oldest.value.keptAt + REPLY_KEPT_MS <= now;
      { oldest } = this.#replies
    )
      this.#forgetReply(oldest.key);
    this.#ended.deleteOldestWhile(({ endedAt }) => endedAt + RECORD_KEPT_MS <= now);
    this.#held.deleteOldestWhile(({ touchedAt }) => touchedAt + RECORD_KEPT_MS <= now);
    return now;
  }

  #makeRoom(now: number): void {
    if (this.#held.size + this.#ended.size < this.#maxRecords) return;
    const { oldest } = this.#ended;
    if (oldest !== undefined) {
      this.#forgetReply(oldest.key);
      this.#ended.delete(oldest.key);
      this.#forgetsBefore(oldest.value.endedAt);
      return;
    }
    for (const [text, { leaseUntil, touchedAt }] of this.#held) {
      if (leaseUntil > now) continue;
      this.#held.delete(text);
      this.#forgetsBefore(touchedAt);
      return;
    }
    throw new StoreUnavailableError(
      `Cannot remember another call: all of the ${this.#maxRecords} there is room for are being run`,
    );
  }

  /** A call that was taken, or ended, after this moment is not among those forgotten. */
  #forgetsBefore(time: number): void {
    this.#bornAt = Math.max(this.#bornAt, time);
  }

  #hasEnded(key: ClaimKey, text: string, now: number): boolean {
    return this.#ended.has(text) || this.#unseen.has(key, now);
  }

  #keep(text: string, reply: Reply): void {
    this.#replies.set(text, reply);
    const own = this.#repliesOf.get(reply.caller) ?? { bytes: 0, oldestFirst: new OldestFirstMap<string, Reply>() };
    own.bytes += reply.bytes.length;
    own.oldestFirst.set(text, reply);
    this.#repliesOf.set(reply.caller, own);
    this.#replyBytes += reply.bytes.length;
    while (this.#replyBytes > this.#maxTotalReplyBytes) {
      const most = [...this.#repliesOf.values()].reduce((one, other) => (other.bytes > one.bytes ? other : one));
      this.#forgetReply(most.oldestFirst.oldest?.key ?? "");
    }
  }

  #forgetReply(text: string): void {
    const reply = this.#replies.get(text);
    const own = reply && this.#repliesOf.get(reply.caller);
    if (reply === undefined || own === undefined) return;
    this.#replyBytes -= reply.bytes.length;
    this.#replies.delete(text);
    own.bytes -= reply.bytes.length;
    own.oldestFirst.delete(text);
    if (own.oldestFirst.size === 0) this.#repliesOf.delete(reply.caller);
  }

  #reply(text: string): Uint8Array | undefined {
    return this.#replies.get(text)?.bytes.slice();
  }
}

function isThis({ owner, epoch }: Owned, claim: Claim): boolean {
  return owner === claim.owner && epoch === claim.epoch;
}

const ownedBy = ({ owner, epoch, requestHash }: Owned): Owned => ({ owner, epoch, requestHash });
