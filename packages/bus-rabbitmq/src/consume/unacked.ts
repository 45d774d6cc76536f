import { TagWindow } from "../wire/tag-window.ts";

/** Tells the broker about deliveries of one channel. */
export type Acknowledge = (tag: number, isMultiple: boolean) => void;

export interface UnackedOptions {
  /** So many that are finished do not wait for more. */
  readonly batch: number;
  readonly atEndOfTurn: (flush: () => void) => void;
}

/** Finished deliveries are acknowledged after this long at the latest, however few there are. */
const WITHIN_MS = 10;
/**
 * After so long without an ack the next is not waited with: few are to come, and a timer would wake the process for it.
 */
const QUIET_MS = 100;

/**
 * The deliveries of a channel that the broker waits for. Finished ones are acknowledged together, once there is a batch
 * of them or the first has waited for WITHIN_MS. After a pause that happens at the end of the turn. The oldest ones
 * without a gap get one `multiple` ack, and each of the rest its own. An ack is a write here and an entry in the log of
 * a quorum queue there. So each on its own costs as much as a message. If the channel ends, deliveries that were
 * finished and not acknowledged come again.
 */
export class Unacked {
  readonly #acknowledge: Acknowledge;
  readonly #batch: number;
  readonly #atEndOfTurn: UnackedOptions["atEndOfTurn"];
  /** Each delivery by its tag; true once it is finished. */
  readonly #deliveries = new TagWindow<boolean>();
  #finished: number[] = [];
  #timer: NodeJS.Timeout | undefined;
  #flushedAt = Number.NEGATIVE_INFINITY;

  constructor(acknowledge: Acknowledge, { batch, atEndOfTurn }: UnackedOptions) {
    this.#acknowledge = acknowledge;
    this.#batch = batch;
    this.#atEndOfTurn = atEndOfTurn;
  }

  add(tag: number): void {
    this.#deliveries.set(tag, false);
  }

  /** The delivery is settled by other means. */
  remove(tag: number): void {
    this.#deliveries.delete(tag);
  }

  finish(tag: number): void {
    if (this.#deliveries.get(tag) === undefined) return;
    this.#deliveries.set(tag, true);
    const count = this.#finished.push(tag);
    if (count === this.#batch) this.#atEndOfTurn(() => this.flush());
    else if (count > 1) return;
    else if (performance.now() - this.#flushedAt >= QUIET_MS) this.#atEndOfTurn(() => this.flush());
    else this.#timer = setTimeout(() => this.flush(), WITHIN_MS);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#flushedAt = performance.now();
    const finished = this.#finished;
    this.#finished = [];
    let upTo: number | undefined;
    let count = 0;
    for (let tag = this.#deliveries.start; this.#deliveries.get(tag) === true; tag = this.#deliveries.start) {
      this.#deliveries.delete(tag);
      upTo = tag;
      count++;
    }
    if (upTo !== undefined) this.#acknowledge(upTo, count > 1);
    if (count === finished.length) return;
    for (const tag of finished) {
      if (this.#deliveries.get(tag) === undefined) continue;
      this.#deliveries.delete(tag);
      this.#acknowledge(tag, false);
    }
  }
}
