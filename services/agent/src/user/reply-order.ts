/**
 * Lets the answers to one session's messages out in the order in which the messages came, whatever way each answer
 * takes.
 */
export class ReplyOrder {
  /** By session: ends when all replies before have been sent, or will not be. */
  readonly #last = new Map<string, Promise<unknown>>();

  /** Takes the next place of a session. Its holder disposes of it in the end, so that those behind do not wait. */
  take(caller: string, sessionId: string): ReplyPlace {
    const session = JSON.stringify([caller, sessionId]);
    const before = this.#last.get(session);
    const { promise, resolve } = Promise.withResolvers<void>();
    const last = Promise.all([before, promise]);
    this.#last.set(session, last);
    void last.then(() => {
      if (this.#last.get(session) === last) this.#last.delete(session);
    });
    return { before: Promise.resolve(before).then(() => {}), [Symbol.dispose]: resolve };
  }
}

/** The place of one message's reply. */
export interface ReplyPlace extends Disposable {
  /** Resolves when those before are done with. Each is, by the deadline of its turn. */
  readonly before: Promise<void>;
}
