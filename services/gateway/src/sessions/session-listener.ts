import { pause, RecentMap } from "@rockbot/base";
import type { AgentEvent, ToolAgentEventsOutput } from "@rockbot/contracts";

/** Reads what the session's log has after a sequence, up to its limit. @throws {ToolError} */
export type ReadLog = (after: number) => Promise<ToolAgentEventsOutput>;

/** So many events wait for a reader that is slow. A slower reader loses further ones, and the log says so. */
const MAX_HEARD = 1_000;
/** So many events are known again. */
const MAX_TAKEN = 1_000;
/** A log has 1 000 events, and a page of it 500: more pages come only while more happens. */
const MAX_PAGES = 8;

/**
 * The events of one session, for one reader: in order, each once. What the bus has lost is read from the session's log.
 */
export class SessionListener implements Disposable {
  readonly #read: ReadLog;
  readonly #onDispose: () => void;
  #heard: AgentEvent[] = [];
  #hasMissed = false;
  #last = 0;
  /** When the newest of them happened, by sequence. */
  readonly #taken = new RecentMap<number, string>(MAX_TAKEN);
  /** The turn whose first event is the first that is taken. */
  #awaited: string | undefined;
  #wake = new AbortController();

  constructor(read: ReadLog, onDispose: () => void) {
    this.#read = read;
    this.#onDispose = onDispose;
  }

  /** An event came from the bus. */
  hear(event: AgentEvent): void {
    if (this.#heard.length >= MAX_HEARD) {
      this.#heard = [];
      this.#hasMissed = true;
    }
    this.#heard.push(event);
    this.#wake.abort();
  }

  /** Takes nothing up to the sequence: the reader knows it, or has no use for it. */
  startAfter(sequence: number): void {
    this.#last = sequence;
  }

  /** Takes nothing before the first event of a turn that has not begun yet. */
  startWith(turnId: string): void {
    this.#awaited = turnId;
  }

  /** Resolves when something has come, the time is over or the signal aborts. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#heard.length > 0) return;
    this.#wake = new AbortController();
    await pause(ms, AbortSignal.any([signal, this.#wake.signal]));
  }

  /** What the log has, to its end. @throws {ToolError} if it cannot be read */
  async readOn(): Promise<readonly AgentEvent[]> {
    const events: AgentEvent[] = [];
    for (let page = 0; page < MAX_PAGES; page++) {
      const { events: read, last } = await this.#read(this.#last);
      if (last < this.#last) {
        this.#last = 0; // a session of which nothing was left counts from the beginning
        continue;
      }
      for (const event of read) this.#take(event, events);
      if (read.length === 0 || this.#last >= last) break;
    }
    return events;
  }

  /** What has come since the last time. A gap that the log cannot fill stays one. */
  async take(): Promise<readonly AgentEvent[]> {
    const [heard, hasMissed] = [this.#heard, this.#hasMissed];
    this.#heard = [];
    this.#hasMissed = false;
    const events: AgentEvent[] = [];
    let mayRead = true;
    for (const event of heard) {
      if (!this.#isAwaited(event)) continue;
      const isGap = event.sequence > this.#last + 1;
      const isCountAnew = this.#isCountAnew(event);
      if (isCountAnew) this.startAfter(0);
      if (mayRead && (hasMissed || isGap || isCountAnew)) {
        mayRead = isGap;
        events.push(...(await this.readOn().catch(() => [])));
      }
      this.#take(event, events);
    }
    return events;
  }

  [Symbol.dispose](): void {
    this.#onDispose();
    this.#wake.abort();
  }

  #take(event: AgentEvent, into: AgentEvent[]): void {
    if (event.sequence <= this.#last) return;
    this.#last = event.sequence;
    this.#taken.set(event.sequence, event.at);
    into.push(event);
  }

  #isAwaited({ turnId, kind, sequence }: AgentEvent): boolean {
    if (this.#awaited === undefined) return true;
    if (turnId !== this.#awaited) return false;
    this.#awaited = undefined;
    if (kind === "turn_started") this.startAfter(sequence - 1); // else its beginning was lost, and the log is read
    return true;
  }

  /**
   * A session of which nothing was left counts from the beginning. Then an event is no repetition, but later than the
   * one with its sequence.
   */
  #isCountAnew({ sequence, at }: AgentEvent): boolean {
    const before = this.#taken.get(sequence);
    return sequence <= this.#last && before !== undefined && at > before;
  }
}
