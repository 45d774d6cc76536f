import type { Extras } from "../rank/extras.ts";
import { type FoundTool, ServiceDocuments } from "./service-documents.ts";
import type { ServiceEntry, ServiceTool } from "./service-entry.ts";
import type { ServiceHit } from "./service-hit.ts";
import { type Hints, writeHints } from "./write-hints.ts";

/** A tool that a question finds, with its service. */
export interface ToolHit {
  readonly entry: ServiceEntry;
  readonly tool: ServiceTool;
  readonly score: number;
}

/** How a search differs from the usual. */
export interface ServiceSearchOptions {
  /** What is switched off. @default all extras */
  readonly extras?: Partial<Extras> | undefined;
}

const MAX_HITS = 5;
const MAX_TOP = 3;
/** Of the scores of a service's second and third best tool. */
const MORE_TOOLS_SHARE = 0.3;
/** Of the score of all texts of a service together: a question's words may be about several of its tools. */
const WHOLE_SHARE = 0.7;

const MAX_HINTS = 2;
/** Of what the rarest word scores at most in a text of average length. A hit with less shares words with the message by chance. */
const MIN_HINT_SHARE = 0.7;
const MIN_HINT_RELEVANCE = 0.5;

/** Finds services and their tools by words. It looks at what its source says at each question, and takes in what has changed since. */
export class ServiceSearch {
  readonly #source: () => readonly ServiceEntry[];
  readonly #documents: ServiceDocuments;

  constructor(source: () => readonly ServiceEntry[], { extras }: ServiceSearchOptions = {}) {
    this.#source = source;
    this.#documents = new ServiceDocuments(extras);
  }

  /** The services that the question finds, best first. @param among in the place of the source: the entries that an asker may see */
  async search(query: string, limit = MAX_HITS, among = this.#source()): Promise<readonly ServiceHit[]> {
    const found = new Map<ServiceEntry, { score: number; tools: FoundTool[] }>();
    for (const one of this.#documents.findTools(query, among)) {
      const known = found.get(one.entry) ?? { score: 0, tools: [] };
      if (known.tools.length === MAX_TOP) continue;
      known.score += known.tools.length === 0 ? one.score : MORE_TOOLS_SHARE * one.score;
      known.tools.push(one);
      found.set(one.entry, known);
    }
    for (const { entry, score } of this.#documents.findServices(query, among)) {
      const known = found.get(entry);
      if (known !== undefined) known.score += WHOLE_SHARE * score;
    }
    const hits = [...found].sort(([, a], [, b]) => b.score - a.score).slice(0, limit);
    const best = hits[0]?.[1].score ?? 1;
    return hits.map(([entry, { score, tools }]) => ({ entry, relevance: score / best, score, top: tools.flatMap(({ tool }) => tool?.name ?? []) }));
  }

  /** The tools that the question finds, best first. @param among as in `search` */
  async searchTools(query: string, limit = MAX_HITS, among = this.#source()): Promise<readonly ToolHit[]> {
    return this.#documents
      .findTools(query, among)
      .flatMap(({ entry, tool, score }) => (tool === undefined ? [] : [{ entry, tool, score }]))
      .slice(0, limit);
  }

  /** The two services that fit a user's message best, for a model; undefined if none fits well. @param among as in `search` */
  async hints(message: string, among = this.#source()): Promise<Hints | undefined> {
    const hits = await this.search(message, MAX_HINTS, among);
    const minScore = MIN_HINT_SHARE * this.#documents.rarestScore;
    return writeHints(hits.filter(({ score, relevance }) => score >= minScore && relevance >= MIN_HINT_RELEVANCE));
  }
}
