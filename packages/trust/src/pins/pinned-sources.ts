import { createHash } from "node:crypto";
import { createSemaphore, startLoop } from "@rockbot/base";
import { StoreUnavailableError } from "@rockbot/records";
import { followStore } from "../store/follow-store.ts";
import type { Trust } from "../store/open-trust.ts";
import type { HeldTool, SeenTool } from "./pin.ts";
import { PinBook } from "./pin-book.ts";
import type { PinMode } from "./screen-tools.ts";
import type { SourceState } from "./source-state.ts";

/** A text as it was read. It is parsed only if it differs from the one before. */
export interface SourceText<Content> {
  readonly text: string;
  /** @throws {Error} that says in words what is wrong with it */
  parse(): Content | Promise<Content>;
}

/** A stranger's text as it stands: what is in it, and which parts of that may be used. */
export interface PinnedSource<From, Content> {
  /** What the operator's file says of it. */
  readonly from: From;
  /** What the parts below are parts of; undefined before the first text was read and compared with what is approved. */
  readonly content: Content | undefined;
  /** The parts that may be used, by the names under which they are pinned. */
  readonly offered: ReadonlySet<string>;
  /** The parts that an operator or a lock file has approved. */
  readonly approved: ReadonlySet<string>;
  readonly held: readonly HeldTool[];
  /** Why it could not be read the last time. */
  readonly fault: string | undefined;
  /** True if only the store has kept its parts from being offered. */
  readonly isBlind: boolean;
  /** When it was read last, as `Date.now()`. */
  readonly readAt: number | undefined;
}

// Many because: servers and documents share the pinning, and tell it all in which they differ.
export interface PinnedSourcesOptions<From, Content> {
  readonly trust: Trust;
  readonly pin: PinMode;
  readonly refreshMs: number;
  /** How soon one that could not be read is read again; each time twice as late, up to a minute. @default 5_000 */
  readonly retryMs?: number | undefined;
  /** How the names begin under which their parts are pinned. */
  readonly prefix: string;
  /** @throws {Error} that says in words why it cannot be read */
  readonly read: (from: From, signal: AbortSignal) => Promise<SourceText<Content>>;
  readonly partsOf: (content: Content) => readonly SeenTool[];
  /** Hears of each change. */
  readonly onChange: () => void;
  readonly onRead: (from: From, content: Content) => void;
  readonly onFault: (from: From, fault: string) => void;
  readonly onHeld: (from: From, held: HeldTool) => void;
  /** Hears of what only a mistake in this program throws. */
  readonly onError: (from: From, error: unknown) => void;
}

interface Entry<From, Content> extends PinnedSource<From, Content> {
  content: Content | undefined;
  offered: ReadonlySet<string>;
  approved: ReadonlySet<string>;
  held: readonly HeldTool[];
  fault: string | undefined;
  isBlind: boolean;
  readAt: number | undefined;
  /** When one that could not be read is read again, as `performance.now()`, and how long after the time before. */
  retryAt: number;
  retryMs: number;
  /** As it was read last, with its hash. It counts once it was compared with what is approved. */
  latest: { readonly content: Content; readonly hash: string } | undefined;
  /** The work on it, one after the other. It never rejects. */
  working: Promise<void>;
}

/** Texts that are read at once: each may be large. */
const AT_ONCE = 4;
const MAX_TOLD = 20;
const RETRY_MS = 5_000;
const MAX_RETRY_MS = 60_000;

/**
 * Texts of strangers whose parts are pinned: OpenAPI documents, cards of agents. Each is read again from time to time.
 * One that cannot be read leaves what was read before, and is read again soon. One that has changed is held back, part
 * by part, until an operator approves.
 */
export class PinnedSources<From extends { readonly name: string }, Content> implements AsyncDisposable {
  readonly #options: PinnedSourcesOptions<From, Content>;
  readonly #book: PinBook;
  readonly #entries = new Map<string, Entry<From, Content>>();
  readonly #pending = new Set<Promise<void>>();
  readonly #places = createSemaphore(AT_ONCE);
  readonly #stop = new AbortController();
  readonly #refreshing: AsyncDisposable;
  readonly #retrying: AsyncDisposable;
  readonly #following: AsyncDisposable;

  constructor(options: PinnedSourcesOptions<From, Content>) {
    this.#options = options;
    this.#book = new PinBook(options.trust);
    this.#refreshing = startLoop(options.refreshMs, () => this.#each((entry) => this.#read(entry)));
    this.#retrying = startLoop(options.retryMs ?? RETRY_MS, () =>
      this.#each(async (entry) => {
        if (performance.now() >= entry.retryAt) await this.#read(entry);
      }),
    );
    this.#following = followStore(options.trust.store, {
      // What was decided of others does not wait for a text that is slow to come.
      onChange: async () => void this.#each((entry) => this.#screenAgain(entry)),
      isBehind: () => [...this.#entries.values()].some(({ isBlind }) => isBlind),
    });
  }

  get all(): readonly PinnedSource<From, Content>[] {
    return [...this.#entries.values()];
  }

  /** How many parts wait for an operator. */
  get waiting(): number {
    return this.all.reduce(
      (sum, { held }) => sum + held.filter(({ rejectedBy }) => rejectedBy === undefined).length,
      0,
    );
  }

  /**
   * The sources whose last reading failed, or has not come yet, with the reason.
   * @param blind what to say where only the store keeps them back
   */
  faults(blind: string): readonly { readonly name: string; readonly why: string }[] {
    return this.all.flatMap(({ from: { name }, fault, isBlind }) => {
      const why = isBlind ? blind : fault;
      return why === undefined ? [] : [{ name, why }];
    });
  }

  /** How each source stands, for operators. @param blind what to say where only the store keeps it back */
  states(kind: SourceState["kind"], blind: string): readonly SourceState[] {
    const faults = new Map(this.faults(blind).map(({ name, why }) => [name, why]));
    return this.all.map(({ from: { name }, offered, held }) => {
      const reason = faults.get(name);
      return {
        kind,
        server: `${this.#options.prefix}${name}`,
        state: reason === undefined ? "ready" : "away",
        ...(reason === undefined ? {} : { reason }),
        tools: offered.size,
        held: held.filter(({ rejectedBy }) => rejectedBy === undefined).length,
      };
    });
  }

  /** Goes by what the file says now. Resolves once each text was read, or could not be. */
  async apply(sources: readonly From[]): Promise<void> {
    const names = new Set(sources.map(({ name }) => name));
    for (const name of this.#entries.keys()) if (!names.has(name)) this.#entries.delete(name);
    const none = {
      content: undefined,
      offered: new Set<string>(),
      approved: new Set<string>(),
      held: [],
      fault: "it is still being read",
      isBlind: false,
      readAt: undefined,
      retryAt: Number.POSITIVE_INFINITY,
      retryMs: 0,
      latest: undefined,
      working: Promise.resolve(),
    };
    // An entry of its own, so that what is read now by the file of before changes nothing.
    for (const from of sources)
      this.#entries.set(from.name, { ...none, ...this.#entries.get(from.name), from, latest: undefined });
    await this.#each((entry) => this.#read(entry));
  }

  /** Works on each text, on one after what is done with it already. */
  async #each(work: (entry: Entry<From, Content>) => Promise<void>): Promise<void> {
    await Promise.all([...this.#entries.values()].map((entry) => this.#queue(entry, work)));
  }

  #queue(entry: Entry<From, Content>, work: (entry: Entry<From, Content>) => Promise<void>): Promise<void> {
    const working = entry.working
      .then(async () => {
        await work(entry);
        this.#options.onChange();
      })
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted) this.#options.onError(entry.from, error);
      })
      .finally(() => this.#pending.delete(working));
    entry.working = working;
    this.#pending.add(working);
    return working;
  }

  async #read(entry: Entry<From, Content>): Promise<void> {
    const { read, onRead, onFault } = this.#options;
    try {
      using _place = await this.#places.acquire(this.#stop.signal);
      const source = await read(entry.from, this.#stop.signal);
      const hash = createHash("sha256").update(source.text).digest("hex");
      if (hash !== entry.latest?.hash) {
        entry.latest = { content: await source.parse(), hash };
        onRead(entry.from, entry.latest.content);
      }
      entry.fault = undefined;
      entry.readAt = Date.now();
      entry.retryAt = Number.POSITIVE_INFINITY;
      entry.retryMs = 0;
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const { message } = error as Error;
      if (entry.fault !== message) onFault(entry.from, message);
      entry.fault = message;
      entry.retryMs = Math.min(2 * entry.retryMs || (this.#options.retryMs ?? RETRY_MS), MAX_RETRY_MS);
      entry.retryAt = performance.now() + entry.retryMs;
    }
    await this.#screenAgain(entry);
  }

  /** Offers what may be offered by what is approved now. Where that cannot be read, what was offered before. */
  async #screenAgain(entry: Entry<From, Content>): Promise<void> {
    if (entry.latest === undefined) return;
    try {
      await this.#screen(entry, entry.latest.content);
      entry.isBlind = false;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error; // the store has logged it
      entry.isBlind = true;
    }
  }

  async #screen(entry: Entry<From, Content>, content: Content): Promise<void> {
    const { pin, prefix, partsOf, onHeld } = this.#options;
    const { offered, approved, held, newlyHeld } = await this.#book.screen(
      `${prefix}${entry.from.name}`,
      partsOf(content),
      pin,
    );
    entry.content = content;
    entry.offered = new Set(offered.map(({ name }) => name));
    entry.approved = approved;
    entry.held = held;
    for (const each of newlyHeld.slice(0, MAX_TOLD)) onHeld(entry.from, each);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all([
      this.#refreshing[Symbol.asyncDispose](),
      this.#retrying[Symbol.asyncDispose](),
      this.#following[Symbol.asyncDispose](),
      ...this.#pending,
    ]);
  }
}

const WHY: Readonly<Record<HeldTool["reason"], string>> = {
  new: "it has come since the others were approved",
  changed: "what is said of it has changed since it was approved",
  renamed: "it was approved under another name",
  suspicious: "there is something to look at first",
};

/** Why a part is held back, as a sentence that goes on after a colon. */
export const whyHeld = ({ reason, suspicions = [] }: HeldTool): string =>
  suspicions.length > 0 ? `it ${suspicions[0]}` : WHY[reason];
