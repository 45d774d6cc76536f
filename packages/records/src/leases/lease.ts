import { RenewingLease } from "@rockbot/base";
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
  readonly #lease: RenewingLease;
  readonly #release: () => Promise<void>;
  readonly #listeners = new Set<() => void>();
  #holder: LeaseHolder | undefined;
  /** What listeners know. */
  #told: { readonly isHeld: boolean; readonly holder: LeaseHolder | undefined } = { isHeld: false, holder: undefined };

  constructor(store: LeaseStore, name: string, { owner, leaseMs = 4_000 }: LeaseOptions) {
    this.#release = () => store.release(name, owner);
    this.#lease = new RenewingLease({
      leaseMs,
      competes: true,
      renew: async () => {
        this.#holder = await store.hold(name, { owner, leaseMs });
        return this.#holder.owner === owner;
      },
      onAsked: () => this.#tell(),
    });
  }

  /**
   * True if this process has it now. By its own clock, which runs out before the store's: nobody else has it at the
   * same time.
   */
  get isHeld(): boolean {
    return this.#lease.isHeld;
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
    return this.#lease.renew();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lease[Symbol.asyncDispose]();
    this.#tell();
    await this.#release().catch(() => {}); // it ends by itself
  }

  #tell(): void {
    const { isHeld, holder } = this;
    const { isHeld: wasHeld, holder: before } = this.#told;
    if (isHeld === wasHeld && holder?.owner === before?.owner && holder?.fence === before?.fence) return;
    this.#told = { isHeld, holder };
    for (const listener of [...this.#listeners]) listener();
  }
}
