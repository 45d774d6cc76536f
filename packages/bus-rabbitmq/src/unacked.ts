/** Tells the broker about deliveries of one channel. */
export type Acknowledge = (tag: number, isMultiple: boolean) => void;

/**
 * The deliveries of a channel that the broker waits for. Those finished in one turn of the event loop are acknowledged
 * together: the oldest ones without a gap by one `multiple` ack, each of the rest alone.
 */
export class Unacked {
  readonly #acknowledge: Acknowledge;
  readonly #atEndOfTurn: (flush: () => void) => void;
  /** In the order of delivery, with whether it is finished. */
  readonly #tags = new Map<number, boolean>();
  #finished: number[] = [];

  constructor(acknowledge: Acknowledge, atEndOfTurn: (flush: () => void) => void) {
    this.#acknowledge = acknowledge;
    this.#atEndOfTurn = atEndOfTurn;
  }

  add(tag: number): void {
    this.#tags.set(tag, false);
  }

  /** The delivery is settled by other means. */
  remove(tag: number): void {
    this.#tags.delete(tag);
  }

  finish(tag: number): void {
    if (!this.#tags.has(tag)) return;
    this.#tags.set(tag, true);
    if (this.#finished.push(tag) === 1) this.#atEndOfTurn(() => this.flush());
  }

  flush(): void {
    const finished = this.#finished;
    this.#finished = [];
    let upTo: number | undefined;
    let count = 0;
    for (const [tag, isFinished] of this.#tags) {
      if (!isFinished) break;
      this.#tags.delete(tag);
      upTo = tag;
      count++;
    }
    if (upTo !== undefined) this.#acknowledge(upTo, count > 1);
    if (count === finished.length) return;
    for (const tag of finished) if (this.#tags.delete(tag)) this.#acknowledge(tag, false);
  }
}
