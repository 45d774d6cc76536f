import {
  PARKED_BYTES,
  PARKED_MESSAGES,
  PARKED_MS,
  type ParkedMessage,
  type ParkedVisitor,
  type VisitParkedOptions,
} from "./bus.ts";

interface Entry {
  readonly parked: ParkedMessage;
  readonly expiresAt: number;
  /** A visit is at it or has passed it, and has not ended. */
  isHeld: boolean;
}

/** The parked messages of one queue of the in-memory bus, oldest first. */
export class MemoryParked {
  readonly #entries = new Set<Entry>();
  #bytes = 0;

  /** How many there are, without those that a visit holds: a broker does not count them either. */
  get length(): number {
    this.#dropExpired();
    let count = 0;
    for (const { isHeld } of this.#entries) if (!isHeld) count++;
    return count;
  }

  add(parked: ParkedMessage): void {
    this.#dropExpired();
    this.#entries.add({ parked, expiresAt: performance.now() + PARKED_MS, isHeld: false });
    this.#bytes += parked.message.body.byteLength;
    for (const oldest of this.#entries) {
      if (this.#entries.size <= PARKED_MESSAGES && this.#bytes <= PARKED_BYTES) break;
      this.#delete(oldest);
    }
  }

  /** Visits messages as Bus.visitParked promises. */
  async visit(visit: ParkedVisitor, { limit = Number.POSITIVE_INFINITY, signal }: VisitParkedOptions): Promise<number> {
    this.#dropExpired();
    const present = [...this.#entries];
    const held: Entry[] = [];
    try {
      for (const entry of present) {
        if (held.length >= limit) break;
        if (entry.isHeld || !this.#entries.has(entry)) continue;
        signal?.throwIfAborted();
        entry.isHeld = true;
        held.push(entry);
        if ((await visit(entry.parked)) === "remove") this.#delete(entry);
      }
      return held.length;
    } finally {
      for (const entry of held) entry.isHeld = false;
    }
  }

  #dropExpired(): void {
    const now = performance.now();
    for (const entry of this.#entries) {
      if (entry.expiresAt > now) return; // the rest is younger
      this.#delete(entry);
    }
  }

  #delete(entry: Entry): void {
    if (this.#entries.delete(entry)) this.#bytes -= entry.parked.message.body.byteLength;
  }
}
