import { hash } from "node:crypto";
import { metrics } from "@opentelemetry/api";
import { RecentMap, unlessAborted } from "@rockbot/base";
import { type Logger, silentLogger } from "@rockbot/bus";
import { visibleText } from "@rockbot/contracts";
import type { ServiceEntry } from "../services/service-entry.ts";
import { contentOf, type Summarize, type SummaryModel, summarizeBy } from "./summarize-by.ts";
import { createMemorySummaryStore, type SummaryStore } from "./summary-store.ts";

/** The maker of summaries, the place where they are kept, and bounds. */
export interface SummariesOptions {
  /** A model, or a function. */
  readonly summarizer: SummaryModel | Summarize;
  /** Stays its maker's. @default one in this process */
  readonly store?: SummaryStore | undefined;
  /** The timeout of one summary. @default 60_000 */
  readonly timeoutMs?: number | undefined;
  /** The pause after a failure, doubled with each. @default 60_000 */
  readonly retryMs?: number | undefined;
  /** The most calls a day of this process, so that services which change all the time cost no more. @default 500 */
  readonly maxPerDay?: number | undefined;
  readonly log?: Logger | undefined;
}

interface Known {
  summary?: string;
  isWaiting: boolean;
  failures: number;
  /** The time of the retry, on the clock of `performance.now()`. */
  retryAt: number;
}

const MAX_KNOWN = 1_000;
const MAX_WAITING = 200;
const MAX_RETRY_MS = 24 * 3_600_000;
const DAY_MS = 24 * 3_600_000;
const MAX_SUMMARY = 300;

/**
 * Summaries of services, each made once of what the service says of itself, in the background and one at a time. Until
 * then, and when it fails, the service's own text stands.
 */
export class Summaries implements AsyncDisposable {
  readonly #options: SummariesOptions;
  readonly #summarize: Summarize;
  readonly #store: SummaryStore;
  readonly #known = new RecentMap<string, Known>(MAX_KNOWN);
  readonly #waiting: { readonly entry: ServiceEntry; readonly known: Known }[] = [];
  readonly #stop = new AbortController();
  #working: Promise<void> | undefined;
  #madeToday = { since: performance.now(), count: 0 };
  readonly #count = metrics.getMeter("@rockbot/search").createCounter("rockbot.search.summaries", {
    description: "Summaries of services, by outcome: made, kept, failed or refused.",
  });

  constructor(options: SummariesOptions) {
    const { summarizer, timeoutMs = 60_000, store = createMemorySummaryStore() } = options;
    this.#options = options;
    this.#summarize = typeof summarizer === "function" ? summarizer : summarizeBy(summarizer, timeoutMs);
    this.#store = store;
  }

  /** The entries with the summaries that there are. It begins to make the missing ones. */
  apply(entries: readonly ServiceEntry[]): readonly ServiceEntry[] {
    return entries.map((entry) => {
      if (entry.type === "guide" || entry.type === "skill") return entry; // its summary is its author's
      const key = textOf(entry);
      const known: Known = this.#known.get(key) ?? { isWaiting: false, failures: 0, retryAt: 0 };
      this.#known.set(key, known);
      if (known.summary !== undefined) return { ...entry, summary: known.summary };
      this.#begin(entry, known);
      return entry;
    });
  }

  /** Waits for no summary that is being made. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#waiting.length = 0;
    this.#stop.abort();
    await this.#working;
  }

  #begin(entry: ServiceEntry, known: Known): void {
    if (
      known.isWaiting ||
      performance.now() < known.retryAt ||
      this.#waiting.length >= MAX_WAITING ||
      this.#stop.signal.aborted
    )
      return;
    known.isWaiting = true;
    this.#waiting.push({ entry, known });
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
  }

  async #work(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const { entry, known } = next;
      try {
        known.summary = await this.#summaryOf(entry);
      } catch (error) {
        const { retryMs = 60_000, log = silentLogger } = this.#options;
        known.retryAt = performance.now() + Math.min(MAX_RETRY_MS, retryMs * 2 ** known.failures++);
        if (this.#stop.signal.aborted) return;
        this.#count.add(1, { outcome: "failed" });
        log.debug({ service: entry.id, error: String(error) }, "could not summarize a service");
      } finally {
        known.isWaiting = false;
      }
    }
  }

  async #summaryOf(entry: ServiceEntry): Promise<string> {
    const key = hash("sha256", contentOf(entry));
    const kept = await this.#store.get(key).catch(() => undefined);
    if (kept !== undefined) {
      this.#count.add(1, { outcome: "kept" });
      return oneLine(kept);
    }
    this.#checkBudget();
    const { timeoutMs = 60_000 } = this.#options;
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(timeoutMs)]);
    const summary = oneLine(await unlessAborted(this.#summarize(entry, signal), signal));
    if (summary === "") throw new Error("the summary is empty");
    this.#count.add(1, { outcome: "made" });
    await this.#store.set(key, summary).catch(() => {}); // made again by the next process
    return summary;
  }

  #checkBudget(): void {
    const { maxPerDay = 500 } = this.#options;
    if (performance.now() - this.#madeToday.since > DAY_MS) this.#madeToday = { since: performance.now(), count: 0 };
    if (this.#madeToday.count >= maxPerDay) {
      this.#count.add(1, { outcome: "refused" });
      throw new Error(`${maxPerDay} summaries were made today`);
    }
    this.#madeToday.count++;
  }
}

const textOf = ({ type, id, summary, tools, skills = [] }: ServiceEntry): string =>
  [type, id, summary, ...[...tools, ...skills].flatMap(({ name, description }) => [name, description])].join("\n");

function oneLine(text: string): string {
  const line = visibleText(text).replaceAll(/\s+/g, " ").trim();
  return line.length > MAX_SUMMARY ? `${line.slice(0, MAX_SUMMARY - 1).trimEnd()}…` : line;
}
