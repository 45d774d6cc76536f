import type { ServerResponse } from "node:http";
import { Deadlines } from "@rockbot/base";
import type { WaitingRoom } from "./waiting-room.ts";

/** Bounds of the requests that a server lets in. */
export interface AdmissionOptions {
  /** How many requests run at once. */
  readonly maxRunning: number;
  /** Where requests wait for their clients. Several admissions may share one. */
  readonly waiting: WaitingRoom;
  /**
   * How long a client may take to read its answer, once it is complete, before the connection is cut, in milliseconds.
   */
  readonly answerMs: number;
}

/** No place is free for a request. The message says why, as the end of a sentence. */
export class NoPlaceError extends Error {
  override readonly name = "NoPlaceError";
}

/** A request waited for the rest of its body, and its place in the waiting room went to another's. */
export class GaveWayError extends Error {
  override readonly name = "GaveWayError";

  constructor() {
    super("its body did not arrive while others waited for the same place");
  }
}

/**
 * Bounds the requests that run at once. A request runs from the arrival of its body until its answer is complete. While
 * it waits for its client, its place is in the waiting room. It waits for the rest of a body, or until the client has
 * read the answer. A named caller may have as many places as are free beside its own. So one caller has half of them at
 * most, and a further one always finds some.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #byCaller = new Map<string, number>();
  readonly #deadlines = new Deadlines();
  #running = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /**
   * Begins a request, which does not run yet.
   * @param caller undefined where all are one, who may have all places
   * @throws {NoPlaceError} if it could not run now: nobody need wait for its body then
   */
  begin(outgoing: ServerResponse, caller: string | undefined): Visit {
    this.#check(caller);
    const { waiting, answerMs } = this.#options;
    return new Visit(outgoing, {
      check: () => this.#check(caller),
      count: (by) => this.#count(caller, by),
      wait: (giveWay) => waiting.enter(caller, giveWay),
      awaitAnswer: (cut) => this.#deadlines.after(answerMs, cut),
    });
  }

  #check(caller: string | undefined): void {
    const { maxRunning } = this.#options;
    const free = maxRunning - this.#running;
    if (free <= 0) throw new NoPlaceError(`${maxRunning} requests run already`);
    const own = caller === undefined ? 0 : (this.#byCaller.get(caller) ?? 0);
    if (own >= free)
      throw new NoPlaceError(
        `${own} of this caller's requests run already, and no more places are left for all others`,
      );
  }

  #count(caller: string | undefined, by: 1 | -1): void {
    this.#running += by;
    if (caller === undefined) return;
    const own = (this.#byCaller.get(caller) ?? 0) + by;
    if (own > 0) this.#byCaller.set(caller, own);
    else this.#byCaller.delete(caller);
  }
}

interface Places {
  readonly check: () => void;
  readonly count: (by: 1 | -1) => void;
  readonly wait: (giveWay: () => void) => () => void;
  readonly awaitAnswer: (cut: () => void) => () => void;
}

/** One request on its way through a server. */
export class Visit {
  readonly #outgoing: ServerResponse;
  readonly #places: Places;
  #isRunning = false;

  constructor(outgoing: ServerResponse, places: Places) {
    this.#outgoing = outgoing;
    this.#places = places;
  }

  /**
   * Waits for what `read` reads of the client.
   * @throws {GaveWayError} once others need the place; the connection ends with the answer then
   */
  receive<T>(read: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const leave = this.#places.wait(() => {
        this.#outgoing.shouldKeepAlive = false;
        reject(new GaveWayError());
      });
      read().finally(leave).then(resolve, reject);
    });
  }

  /** Takes a place until the answer is complete or the connection is gone. @throws {NoPlaceError} */
  run(): void {
    this.#places.check();
    if (this.#outgoing.closed) return;
    this.#setRunning(true);
    this.#outgoing.once("prefinish", () => {
      this.awaitReader();
      if (this.#outgoing.closed) return;
      this.#outgoing.once(
        "close",
        this.#places.awaitAnswer(() => this.#outgoing.destroy()),
      );
    });
    this.#outgoing.once("close", () => this.#setRunning(false));
  }

  /**
   * Gives up the place while a client does not read what it was sent. Its connection is cut if others need the room.
   * @returns what takes the place again
   */
  awaitReader(): () => void {
    if (!this.#isRunning) return () => {};
    this.#setRunning(false);
    const leave = this.#places.wait(() => this.#outgoing.destroy());
    this.#outgoing.once("close", leave);
    return () => {
      if (this.#outgoing.closed) return;
      this.#outgoing.off("close", leave);
      leave();
      this.#setRunning(true);
    };
  }

  #setRunning(isRunning: boolean): void {
    if (this.#isRunning === isRunning) return;
    this.#isRunning = isRunning;
    this.#places.count(isRunning ? 1 : -1);
  }
}
