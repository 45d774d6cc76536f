import { startLoop } from "@rockbot/base";
import type { LeaseHolder, LeaseStore } from "./lease-store.ts";

/** The owner of a lease, and how long it holds without a renewal. */
export interface LeaseOptions {
  /** Unique to this process. */
  readonly owner: string;
  /** How long one that shows no sign of life keeps it. It is looked at four times as often. @default 4_000 */
  readonly leaseMs?: number | undefined;
}

/**
 * Competes for a lease until its disposal: takes it when it is free, and renews it. A leaseholder without a renewal
 * loses the lease after `leaseMs`. The next one has it at most a quarter of that later. Disposal gives it back.
 */
export class Lease implements AsyncDisposable {
  readonly #store: LeaseStore;
  readonly #name: string;
  readonly #claim: { readonly owner: string; readonly leaseMs: number };
  readonly #loop: AsyncDisposable;
  readonly #listeners = new Set<() => void>();
  #holder: LeaseHolder | undefined;
  #heldUntil = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #isClosed = false;
  #wasHeld = false;

  constructor(store: LeaseStore, name: string, { owner, leaseMs = 4_000 }: LeaseOptions) {
    this.#store = store;
    this.#name = name;
    this.#claim = { owner, leaseMs };
    this.#loop = startLoop(leaseMs / 4, () => this.look());
  }

  /**
   * Whether this process has it now. By its own clock, which runs out before the store's: nobody else has it at the
   * same time.
   */
  get isHeld(): boolean {
    return performance.now() < this.#heldUntil;
  }

  /** The owner at the latest look; undefined if that is not known. */
  get holder(): LeaseHolder | undefined {
    return this.#holder;
  }

  /**
   * Calls `listener` whenever the holder, or whether this process is it, has changed, until the returned function is
   * called.
   */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Looks now, as it does by itself. Never rejects: a store that is away changes nothing but that the time of this
   * process runs out.
   */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#loop[Symbol.asyncDispose]();
    await this.#looking;
    this.#heldUntil = Number.NEGATIVE_INFINITY;
    this.#tell();
    await this.#store.release(this.#name, this.#claim.owner).catch(() => {}); // it ends by itself
  }

  async #look(): Promise<void> {
    if (this.#isClosed) return;
    const askedAt = performance.now(); // the store counts from later on
    try {
      const before = this.#holder;
      this.#holder = await this.#store.hold(this.#name, this.#claim);
      const isOurs = this.#holder.owner === this.#claim.owner;
      this.#heldUntil = isOurs ? askedAt + this.#claim.leaseMs : Number.NEGATIVE_INFINITY;
      if (before?.owner !== this.#holder.owner || before.fence !== this.#holder.fence) return this.#tell();
    } catch {
      // the next look comes
    }
    if (this.isHeld !== this.#wasHeld) this.#tell();
  }

  #tell(): void {
    this.#wasHeld = this.isHeld;
    for (const listener of [...this.#listeners]) listener();
  }
}
