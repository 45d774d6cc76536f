/** A lease is asked for so many times in its time: two requests may fail in vain. */
const REQUESTS = 4;

/** How a lease is renewed. */
export interface RenewingLeaseOptions {
  /** How long it holds without a renewal. */
  readonly leaseMs: number;
  /**
   * Makes it hold from now. False if somebody else has it. A rejection says nothing: while its keeper is away nobody
   * else can take it either.
   */
  readonly renew: () => Promise<boolean>;
  /** True if another may hold the lease at first, and a lost one may be taken again. @default false */
  readonly competes?: boolean | undefined;
  /** Called after each request, whatever came of it. */
  readonly onAsked?: (() => void) | undefined;
}

/** A right that ends by itself, renewed until it is lost or disposed of. Disposal waits for the request on its way. */
export class RenewingLease implements AsyncDisposable {
  readonly #options: RenewingLeaseOptions;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #heldUntil: number;
  #asking: Promise<void> | undefined;
  #isOver = false;

  constructor(options: RenewingLeaseOptions) {
    const { leaseMs, competes = false } = options;
    this.#options = options;
    this.#heldUntil = competes ? Number.NEGATIVE_INFINITY : performance.now() + leaseMs;
    this.#timer = setInterval(() => void this.renew(), leaseMs / REQUESTS).unref();
    if (competes) void this.renew();
  }

  /** By the clock of this process, which runs out before its keeper's: nobody else has it at the same time. */
  get isHeld(): boolean {
    return performance.now() < this.#heldUntil;
  }

  /** Aborts when somebody else is known to have it. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Asks now, as it does by itself. Never rejects. */
  renew(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop();
    await this.#asking;
    this.#heldUntil = Number.NEGATIVE_INFINITY;
  }

  async #ask(): Promise<void> {
    const { leaseMs, renew, competes = false, onAsked } = this.#options;
    const askedAt = performance.now(); // its keeper counts from later on
    const isOurs = await renew().catch(() => undefined); // the next request comes; meanwhile the time runs out
    if (isOurs !== undefined) this.#heldUntil = isOurs ? askedAt + leaseMs : Number.NEGATIVE_INFINITY;
    if (isOurs === false && !competes) {
      this.#stop();
      this.#lost.abort();
    }
    onAsked?.();
  }

  #stop(): void {
    this.#isOver = true;
    clearInterval(this.#timer);
  }
}
