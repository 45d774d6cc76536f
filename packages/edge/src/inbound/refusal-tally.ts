import { networkOf } from "./addresses.ts";

/** How many names get lines of their own, and where the lines go. */
export interface RefusalTallyOptions {
  /** So many clients are logged by themselves in a while; all others are logged together. So no flood fills a log. */
  readonly maxNames: number;
  /** Refusals of one client that are logged one by one in a while. */
  readonly ownLines: number;
  /** Gets the number of those that were not told one by one, at the end of a while. */
  readonly tell: (name: string, reason: string, count: number) => void;
  /** How long a while is. @default 60_000 */
  readonly everyMs?: number | undefined;
}

interface Tally {
  readonly name: string;
  readonly reason: string;
  lines: number;
  count: number;
}

const EVERY_MS = 60_000;
const OTHERS = "others";

/**
 * Counts refusals by name and by one of few reasons. It reports the first ones one by one, and then their number each
 * minute. Disposal reports the last.
 */
export class RefusalTally implements Disposable {
  readonly #options: RefusalTallyOptions;
  readonly #tallies = new Map<string, Tally>();
  readonly #telling: NodeJS.Timeout;

  constructor(options: RefusalTallyOptions) {
    this.#options = options;
    this.#telling = setInterval(() => this.#tell(), options.everyMs ?? EVERY_MS).unref();
  }

  /** @returns the name under which the refusal is to be logged by itself; undefined if it is counted */
  note(name: string, reason: string): string | undefined {
    const tally = this.#tallyOf(name, reason);
    if (tally.lines < this.#options.ownLines) {
      tally.lines++;
      return tally.name;
    }
    tally.count++;
    return undefined;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#telling);
    this.#tell();
  }

  #tell(): void {
    for (const { name, reason, count } of this.#tallies.values())
      if (count > 0) this.#options.tell(name, reason, count);
    this.#tallies.clear();
  }

  #tallyOf(name: string, reason: string): Tally {
    const keyOf = (who: string) => `${reason} ${who}`;
    const who = this.#tallies.has(keyOf(name)) || this.#tallies.size < this.#options.maxNames ? name : OTHERS;
    const known = this.#tallies.get(keyOf(who));
    if (known !== undefined) return known;
    const tally = { name: who, reason, lines: 0, count: 0 };
    this.#tallies.set(keyOf(who), tally);
    return tally;
  }
}

/**
 * Counts requests without a known caller, by address. It reports the first at once, and then the number each minute. It
 * tells 20 addresses apart.
 */
export function tallyByAddress(
  tell: RefusalTallyOptions["tell"],
  everyMs?: number,
): Disposable & { readonly note: (remoteAddress: string | undefined, reason: string) => void } {
  const tally = new RefusalTally({ maxNames: 20, ownLines: 1, tell, everyMs });
  return {
    note(remoteAddress, reason) {
      const address = tally.note(remoteAddress === undefined ? "this machine" : networkOf(remoteAddress), reason);
      if (address !== undefined) tell(address, reason, 1);
    },
    [Symbol.dispose]: () => tally[Symbol.dispose](),
  };
}
