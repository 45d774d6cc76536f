import { isWithinPair } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import type { AgentEvent } from "@rockbot/contracts";
import type { NewEvent } from "../words/new-event.ts";
import type { SessionKey } from "../words/session.ts";
import type { TurnStore } from "./turn-store.ts";

export interface TurnEventsOptions {
  readonly store: TurnStore;
  readonly session: SessionKey;
  readonly turnId: string;
  /** Gets each event once it has its number, in order. */
  readonly tell: (event: AgentEvent) => void;
  readonly log: Logger;
}

/** A model's text is published in pieces, each after this time or this number of characters. */
const TEXT_MS = 100;
const TEXT_LENGTH = 2_000;
/** One event has so many at most. */
const MAX_TEXT_LENGTH = 16_000;
/** Events that wait for a store. A turn with more of them goes on without the oldest. */
const MAX_PENDING = 500;

/** Tells the steps of a turn: to the session's log first, which numbers them. A log that is away keeps no step back. */
export class TurnEvents {
  readonly #options: TurnEventsOptions;
  #text = "";
  #textTimer: NodeJS.Timeout | undefined;
  #pending: NewEvent[] = [];
  #writing: Promise<void> | undefined;
  /** The number of the newest event that was published. */
  #last = 0;
  readonly #listeners: ((event: AgentEvent) => void)[];

  constructor(options: TurnEventsOptions) {
    this.#options = options;
    this.#listeners = [options.tell];
  }

  /** Tells one more of each step from now on, and before the others. */
  follow(listener: (event: AgentEvent) => void): void {
    this.#listeners.unshift(listener);
  }

  /** A piece of what the model says. */
  text(delta: string): void {
    this.#text += delta;
    if (this.#text.length >= TEXT_LENGTH) this.#endText();
    else this.#textTimer ??= setTimeout(() => this.#endText(), TEXT_MS);
  }

  emit(event: Omit<NewEvent, "at">): void {
    this.#endText();
    this.#push(event);
  }

  /**
   * Emits the last event. Resolves once the store has been asked to keep it: what the store is asked for after that, it
   * does after that.
   * @returns `told` resolves once all emitted events are published
   */
  async end(event: Omit<NewEvent, "at">): Promise<{ readonly told: Promise<void> }> {
    this.emit(event);
    await undefined; // as the writer does, before this
    if (this.#pending.length > 0) await this.#writing; // which is at an earlier batch
    return { told: this.#writing ?? Promise.resolve() };
  }

  #endText(): void {
    clearTimeout(this.#textTimer);
    this.#textTimer = undefined;
    const text = this.#text;
    this.#text = "";
    for (let at = 0; at < text.length; ) {
      const end = at + MAX_TEXT_LENGTH - (isWithinPair(text, at + MAX_TEXT_LENGTH) ? 1 : 0);
      this.#push({ kind: "text", text: text.slice(at, end) });
      at = end;
    }
  }

  #push(event: Omit<NewEvent, "at">): void {
    this.#pending.push({ at: new Date().toISOString(), ...event });
    if (this.#pending.length > MAX_PENDING) this.#pending.shift();
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  async #write(): Promise<void> {
    const { store, session, turnId, log } = this.#options;
    await undefined; // what is said at one moment goes together
    while (this.#pending.length > 0) {
      const batch = this.#pending.splice(0);
      let numbered: readonly AgentEvent[];
      try {
        numbered = await store.addEvents(session, turnId, batch, this.#last);
      } catch (error) {
        log.debug({ error: String(error) }, "could not keep events of a turn");
        numbered = batch.map((event, index) => ({
          sessionId: session.sessionId,
          turnId,
          sequence: this.#last + 1 + index,
          ...event,
        }));
      }
      this.#last = numbered.at(-1)?.sequence ?? this.#last;
      for (const event of numbered) for (const tell of this.#listeners) tell(event);
    }
  }
}
