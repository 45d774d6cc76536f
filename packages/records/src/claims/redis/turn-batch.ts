interface Asked<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** A script holds up Redis for all while it runs, so it is given no more at once. */
const MAX_ITEMS = 64;

/**
 * Gathers the questions of one turn of the event loop, and asks them in one command. Under load a command costs client
 * and server as much as its work. A question that comes alone waits no longer than for the end of the turn.
 */
export class TurnBatch<Item, Answer> {
  readonly #ask: (items: readonly Item[]) => Promise<readonly Answer[]>;
  readonly #atEndOfTurn: (flush: () => void) => void;
  #asked: Asked<Item, Answer>[] = [];

  /**
   * @param ask gives the answers in the order of the items
   * @param atEndOfTurn calls what it is given once, at the end of the turn
   */
  constructor(ask: (items: readonly Item[]) => Promise<readonly Answer[]>, atEndOfTurn: (flush: () => void) => void) {
    this.#ask = ask;
    this.#atEndOfTurn = atEndOfTurn;
  }

  /** @throws what the command throws, as do all that are in it */
  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#asked.push({ item, resolve, reject }) === 1) this.#atEndOfTurn(() => this.#flush());
    });
  }

  #flush(): void {
    const asked = this.#asked;
    this.#asked = [];
    for (let from = 0; from < asked.length; from += MAX_ITEMS)
      void this.#send(asked.length <= MAX_ITEMS ? asked : asked.slice(from, from + MAX_ITEMS));
  }

  async #send(asked: readonly Asked<Item, Answer>[]): Promise<void> {
    try {
      const answers = await this.#ask(asked.map(({ item }) => item));
      for (const [index, { resolve }] of asked.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}
