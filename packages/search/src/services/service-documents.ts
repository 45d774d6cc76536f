import { type Fields, type Match, SearchIndex } from "../rank/search-index.ts";
import type { Extras } from "../words/extras.ts";
import type { ServiceEntry, ServiceTool } from "./service-entry.ts";

/** A tool of a service that a question finds; or a service without tools. */
export interface FoundTool {
  readonly entry: ServiceEntry;
  readonly tool: ServiceTool | undefined;
  readonly score: number;
}

/** A service that a question finds by all of its texts together. */
export interface FoundService extends Pick<Match, "score" | "share" | "words" | "possible"> {
  readonly entry: ServiceEntry;
}

/** A document, as the latest question that looked among its texts saw it. */
interface Indexed {
  readonly key: string;
  entry: ServiceEntry;
  tool: ServiceTool | undefined;
  view: number;
  seenAt: number;
}

/** The documents of a service under one summary. */
interface Family {
  readonly tools: Map<string, Indexed>;
  /** By the names of the tools, as two askers may see different ones. */
  readonly services: Map<string, Indexed>;
}

/** What nobody has asked among for so long is forgotten. */
const FORGET_MS = 10 * 60_000;
/** A question that names a service means that one. */
const SERVICE_NAME_WEIGHT = 4;
const SWEEP_MS = 60_000;
/** Beyond this all is forgotten that the latest question did not ask among. */
const MAX_DOCUMENTS = 20_000;

/**
 * The documents of services: one for each tool, and one for each service, in two indexes that all askers share. Each
 * question says among which entries it looks: what is not yet there of them, or has changed, is taken in first. A
 * summary that two askers see differently makes different documents.
 */
export class ServiceDocuments {
  readonly #tools: SearchIndex;
  readonly #services: SearchIndex;
  readonly #families = new Map<string, Family>();
  readonly #byKey = new Map<string, Indexed>();
  #view = 0;
  #shown: readonly ServiceEntry[] | undefined;
  #nextKey = 0;
  #sweptAt = performance.now();

  constructor(extras: Partial<Extras> | undefined) {
    this.#tools = new SearchIndex(extras);
    this.#services = new SearchIndex(extras, { service: SERVICE_NAME_WEIGHT });
  }

  /** What a word scores that one tool has, once, in a text of average length. */
  get rarestScore(): number {
    return this.#tools.rarestScore;
  }

  /** The tools that the question finds among the entries, best first. */
  findTools(query: string, entries: readonly ServiceEntry[]): FoundTool[] {
    this.#show(entries);
    return this.#visible(this.#tools.search(query));
  }

  /** The entries that the question finds by all of their texts together, best first. */
  findServices(query: string, entries: readonly ServiceEntry[]): FoundService[] {
    this.#show(entries);
    return this.#visible(this.#services.search(query));
  }

  #visible(matches: readonly Match[]): (FoundTool & FoundService)[] {
    return matches.flatMap(({ key, ...match }) => {
      const indexed = this.#byKey.get(key);
      return indexed?.view === this.#view ? [{ entry: indexed.entry, tool: indexed.tool, ...match }] : [];
    });
  }

  #show(entries: readonly ServiceEntry[]): void {
    if (entries === this.#shown) return;
    this.#shown = entries;
    this.#view++;
    const now = performance.now();
    for (const entry of entries) this.#take(entry, now);
    const isFull = this.#tools.size > MAX_DOCUMENTS;
    if (isFull || now - this.#sweptAt > SWEEP_MS) this.#forget(isFull ? now : now - FORGET_MS);
  }

  #take(entry: ServiceEntry, seenAt: number): void {
    const { type, id, summary, tools, skills = [] } = entry;
    const parts = [...tools, ...skills];
    const familyKey = JSON.stringify([type, id, summary]);
    const family: Family = this.#families.get(familyKey) ?? { tools: new Map(), services: new Map() };
    this.#families.set(familyKey, family);
    let hasChanged = false;
    for (const tool of parts.length > 0 ? parts : [undefined]) {
      const known = family.tools.get(tool?.name ?? "");
      if (known !== undefined && isSame(known.tool, tool)) {
        known.entry = entry;
        known.tool = tool;
        known.view = this.#view;
        known.seenAt = seenAt;
      } else {
        hasChanged ||= known !== undefined;
        this.#put(
          this.#tools,
          family.tools,
          tool?.name ?? "",
          { entry, tool, seenAt },
          tool === undefined ? [] : [tool],
        );
      }
    }
    if (hasChanged) this.#drop(family.services, this.#services, () => true);
    const names = parts.map(({ name }) => name).join("\n");
    const known = family.services.get(names);
    if (known !== undefined) Object.assign(known, { entry, view: this.#view, seenAt });
    else this.#put(this.#services, family.services, names, { entry, tool: undefined, seenAt }, parts);
  }

  #put(
    index: SearchIndex,
    among: Map<string, Indexed>,
    name: string,
    content: Pick<Indexed, "entry" | "tool" | "seenAt">,
    tools: readonly ServiceTool[],
  ): void {
    const known = among.get(name);
    const indexed = { key: known?.key ?? String(this.#nextKey++), view: this.#view, ...content };
    among.set(name, indexed);
    this.#byKey.set(indexed.key, indexed);
    index.set(indexed.key, fieldsOf(content.entry, tools));
  }

  #forget(before: number): void {
    this.#sweptAt = performance.now();
    for (const [familyKey, { tools, services }] of this.#families) {
      const isOver = ({ view, seenAt }: Indexed): boolean => view !== this.#view && seenAt < before;
      this.#drop(tools, this.#tools, isOver);
      this.#drop(services, this.#services, isOver);
      if (tools.size === 0 && services.size === 0) this.#families.delete(familyKey);
    }
  }

  #drop(among: Map<string, Indexed>, index: SearchIndex, isOver: (indexed: Indexed) => boolean): void {
    for (const [name, indexed] of among) {
      if (!isOver(indexed)) continue;
      among.delete(name);
      this.#byKey.delete(indexed.key);
      index.delete(indexed.key);
    }
  }
}

function fieldsOf({ id, summary }: ServiceEntry, tools: readonly ServiceTool[]): Fields {
  const joined = (text: (tool: ServiceTool) => string | undefined): string =>
    tools.map((tool) => text(tool) ?? "").join("\n");
  return {
    service: id,
    summary: isListing(summary) ? "" : summary,
    name: joined(({ name }) => name),
    description: joined(({ description }) => description),
    parameters: joined(({ parameters }) => parameters),
  };
}

const isSame = (one: ServiceTool | undefined, other: ServiceTool | undefined): boolean =>
  one === other || (one?.description === other?.description && one?.parameters === other?.parameters);

/**
 * True if a summary only lists names of tools, as it does before somebody writes one: each tool has its own name
 * already.
 */
export const isListing = (summary: string): boolean => /(^|: )Provides (\d+ tool\(s\)|no tools)/.test(summary);
