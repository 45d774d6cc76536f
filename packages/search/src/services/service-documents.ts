import type { Extras } from "../rank/extras.ts";
import { SearchIndex } from "../rank/search-index.ts";
import type { ServiceEntry, ServiceTool } from "./service-entry.ts";

/** A tool of a service that a question finds; or a service without tools. */
export interface Found {
  readonly entry: ServiceEntry;
  readonly tool: ServiceTool | undefined;
  readonly score: number;
}

interface IndexedTool {
  readonly key: string;
  tool: ServiceTool | undefined;
  /** The entry that it belongs to in the view of the latest question, and which that was. */
  entry: ServiceEntry;
  view: number;
}

interface IndexedEntry {
  readonly tools: Map<string, IndexedTool>;
  view: number;
  seenAt: number;
}

/** What nobody has asked among for so long is forgotten. */
const FORGET_MS = 10 * 60_000;
const MAX_DOCUMENTS = 20_000;

/**
 * The documents of services, one for each tool, in one index that all askers share. Each question says among which entries it looks: what is not yet
 * there of them, or has changed, is taken in first. Entries of one name whose summaries differ, as two askers may see them, are different documents.
 */
export class ServiceDocuments {
  readonly #index: SearchIndex;
  readonly #entries = new Map<string, IndexedEntry>();
  readonly #tools = new Map<string, IndexedTool>();
  #view = 0;
  #shown: readonly ServiceEntry[] | undefined;
  #nextKey = 0;

  constructor(extras: Partial<Extras> | undefined) {
    this.#index = new SearchIndex(extras);
  }

  /** What a word scores at most that one document has, once, in a text of average length. */
  get rarestScore(): number {
    return this.#index.rarestScore;
  }

  /** The tools that the question finds among the entries, best first. */
  find(query: string, entries: readonly ServiceEntry[]): Found[] {
    this.#show(entries);
    return this.#index.search(query).flatMap(({ key, score }) => {
      const indexed = this.#tools.get(key);
      return indexed?.view === this.#view ? [{ entry: indexed.entry, tool: indexed.tool, score }] : [];
    });
  }

  #show(entries: readonly ServiceEntry[]): void {
    if (entries === this.#shown) return;
    this.#shown = entries;
    this.#view++;
    const now = performance.now();
    for (const entry of entries) this.#take(entry, now);
    for (const [key, indexed] of this.#entries) {
      if (indexed.view === this.#view || (now - indexed.seenAt < FORGET_MS && this.#index.size <= MAX_DOCUMENTS)) continue;
      for (const tool of indexed.tools.values()) this.#drop(tool);
      this.#entries.delete(key);
    }
  }

  #take(entry: ServiceEntry, now: number): void {
    const { type, id, summary, tools, skills = [] } = entry;
    const key = JSON.stringify([type, id, summary]);
    const indexed: IndexedEntry = this.#entries.get(key) ?? { tools: new Map(), view: 0, seenAt: now };
    this.#entries.set(key, indexed);
    indexed.view = this.#view;
    indexed.seenAt = now;
    const parts: readonly (ServiceTool | undefined)[] = tools.length + skills.length > 0 ? [...tools, ...skills] : [undefined];
    for (const tool of parts) {
      const name = tool?.name ?? "";
      const known = indexed.tools.get(name);
      if (known !== undefined && isSame(known.tool, tool)) {
        Object.assign(known, { tool, entry, view: this.#view });
        continue;
      }
      if (known !== undefined) this.#drop(known);
      const fresh: IndexedTool = { key: String(this.#nextKey++), tool, entry, view: this.#view };
      indexed.tools.set(name, fresh);
      this.#tools.set(fresh.key, fresh);
      this.#index.set(fresh.key, {
        service: id,
        summary: isListing(summary) ? "" : summary,
        name: tool?.name,
        description: tool?.description,
        parameters: tool?.parameters,
      });
    }
  }

  #drop({ key }: IndexedTool): void {
    this.#tools.delete(key);
    this.#index.delete(key);
  }
}

const isSame = (one: ServiceTool | undefined, other: ServiceTool | undefined): boolean =>
  one === other || (one?.description === other?.description && one?.parameters === other?.parameters);

/** Whether a summary only lists names of tools, as it is until somebody has written one: each tool has its own name already. */
const isListing = (summary: string): boolean => /(^|: )Provides (\d+ tool\(s\)|no tools)/.test(summary);
