import type { Logger } from "@rockbot/bus";
import type { FigureStore } from "@rockbot/records/figures";
import type { ServiceFigures } from "./service-figures.ts";

/** Minutes that wait for the store, of all services together. What is older than that is this gateway's alone. */
const MAX_WAITING = 10_000;

/**
 * Brings the minutes that are over to the store that gateways share, and takes what others have seen more of. While the
 * store is away they wait, and the day is read once it can be.
 */
export class SharedFigures {
  readonly #figures: ServiceFigures;
  readonly #store: FigureStore;
  readonly #log: Logger;
  #waiting: { readonly service: string; readonly minute: number }[] = [];
  #isLoaded = false;

  constructor(figures: ServiceFigures, { store, log }: { readonly store: FigureStore; readonly log: Logger }) {
    this.#figures = figures;
    this.#store = store;
    this.#log = log;
    figures.onMinute = (service, minute) => {
      if (this.#waiting.length < MAX_WAITING) this.#waiting.push({ service, minute });
    };
  }

  /** One turn of the exchange. Never rejects. */
  async exchange(): Promise<void> {
    try {
      if (!this.#isLoaded) {
        for (const [service, day] of await this.#store.load()) this.#figures.history(service)?.day.merge(day);
        this.#isLoaded = true;
      }
      for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
        await this.#keep(next);
        this.#waiting.shift();
      }
    } catch (error) {
      this.#log.debug({ error: String(error) }, "could not share the calls of services"); // the next turn tries again
    }
  }

  async #keep({ service, minute }: { readonly service: string; readonly minute: number }): Promise<void> {
    const day = this.#figures.history(service)?.day;
    if (day === undefined) return;
    const row = day.row(minute);
    const kept = await this.#store.keep(service, row);
    if (kept !== undefined && !kept.equals(row.bytes)) day.mergeRow({ at: row.at, bytes: kept });
  }
}
