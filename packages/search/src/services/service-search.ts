import { marks } from "@rockbot/contracts";
import { type Embed, fuseRanks, Meanings } from "../rank/meanings.ts";
import type { Extras } from "../words/extras.ts";
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
  /** A second signal, fused with the words by rank: vectors of the services' texts and of questions. @default none */
  readonly embed?: Embed | undefined;
}

const MAX_HITS = 5;
const MAX_TOP = 3;
/** The share of the scores of a service's second and third best tool. */
const MORE_TOOLS_SHARE = 0.3;
/** The share of the score of all texts of a service together: a question's words may be about several of its tools. */
const WHOLE_SHARE = 0.7;

/** The most hits that are nearest by meaning; all others are no hits. */
const MAX_NEAREST = 20;
const MAX_HINTS = 2;
/**
 * The least share of the highest score that the rarest word gets in a text of average length. A hit with less shares
 * words with the message by chance.
 */
const MIN_HINT_SHARE = 0.7;
/** The least share of the best hit's score. */
const MIN_HINT_SCORE = 0.5;
/**
 * The least number of the message's words, where one in a name counts twice: a single word of a description is there by
 * chance.
 */
const MIN_HINT_WORDS = 2;
/** A hit with less relevance is a guess. */
const GUESS = 0.3;
/** The share of the nearest by meaning alone: how near is near depends on the vectors. */
const MEANT = 0.5;
/** The score of a hit that leaves no doubt, beside what the words of the question count. */
const SURE_SCORE = 2;
/**
 * With less the best hit is no answer: a question of so few rare words shares one with it by chance. Answers of the
 * measured set have more.
 */
const minRelevance = (rareWords: number): number => (rareWords <= 2 ? 0.33 : 0.18);
/** The least share of the best hit's relevance. */
const MIN_SHARE_OF_BEST = 1 / 3;

/**
 * Finds services and their tools by words. It looks at what its source says at each question, and takes in what has
 * changed since.
 */
export class ServiceSearch {
  readonly #source: () => readonly ServiceEntry[];
  readonly #documents: ServiceDocuments;
  readonly #meanings: Meanings | undefined;

  constructor(source: () => readonly ServiceEntry[], { extras, embed }: ServiceSearchOptions = {}) {
    this.#source = source;
    this.#meanings = embed === undefined ? undefined : new Meanings(embed);
    this.#documents = new ServiceDocuments(extras);
  }

  /**
   * The services that the question finds, best first.
   * @param among in the place of the source: the entries that an asker may see
   */
  async search(query: string, limit = MAX_HITS, among = this.#source()): Promise<readonly ServiceHit[]> {
    const byWords = this.#byWords(query, among);
    const nearest = await this.#nearest(query, among);
    if (nearest === undefined) return byWords.slice(0, limit);
    const top = new Map<ServiceEntry, string[]>();
    for (const { entry, tool } of nearest) {
      const names = top.get(entry) ?? [];
      if (tool !== undefined && names.length < MAX_TOP) names.push(tool.name);
      top.set(entry, names);
    }
    const words = new Map(byWords.map((hit) => [hit.entry, hit]));
    const fused = fuseRanks([byWords.map(({ entry }) => entry), [...top.keys()].slice(0, MAX_NEAREST)]);
    const best = fused[0]?.score ?? 1;
    const hits = fused.map(
      ({ item: entry, score }) =>
        words.get(entry) ?? { entry, score: 0, words: 0, top: top.get(entry) ?? [], relevance: (MEANT * score) / best },
    );
    return falling(hits).slice(0, limit);
  }

  /** The tools that the question finds, best first. @param among as in `search` */
  async searchTools(query: string, limit = MAX_HITS, among = this.#source()): Promise<readonly ToolHit[]> {
    const byWords = this.#documents
      .findTools(query, among)
      .flatMap(({ entry, tool, score }) => (tool === undefined ? [] : [{ entry, tool, score }]));
    const nearest = await this.#nearest(query, among);
    if (nearest === undefined) return byWords.slice(0, limit);
    const words = new Map(byWords.map((hit) => [hit.tool, hit]));
    const near = nearest
      .flatMap(({ entry, tool }) => (tool === undefined ? [] : [{ entry, tool }]))
      .slice(0, MAX_NEAREST);
    const hits = new Map(near.map(({ entry, tool }) => [tool, { entry, tool, score: 0 }]));
    return fuseRanks([byWords.map(({ tool }) => tool), near.map(({ tool }) => tool)])
      .flatMap(({ item }) => words.get(item) ?? hits.get(item) ?? [])
      .slice(0, limit);
  }

  #byWords(query: string, among: readonly ServiceEntry[]): readonly ServiceHit[] {
    const found = new Map<ServiceEntry, { score: number; relevance: number; words: number; tools: FoundTool[] }>();
    for (const one of this.#documents.findTools(query, among)) {
      const known = found.get(one.entry) ?? { score: 0, relevance: 0, words: 0, tools: [] };
      if (known.tools.length === MAX_TOP) continue;
      known.score += known.tools.length === 0 ? one.score : MORE_TOOLS_SHARE * one.score;
      known.tools.push(one);
      found.set(one.entry, known);
    }
    const services = this.#documents.findServices(query, among);
    for (const { entry, score, share, words, possible } of services) {
      const known = found.get(entry);
      if (known === undefined) continue;
      known.score += WHOLE_SHARE * score;
      known.words = words;
      known.relevance = Math.sqrt(share * Math.min(1, known.score / (SURE_SCORE * possible)));
    }
    const hits = [...found].map(([entry, { tools, ...hit }]) => ({
      entry,
      ...hit,
      top: tools.flatMap(({ tool }) => tool?.name ?? []),
    }));
    const [ranked, rareWords] = [
      falling(hits.sort((a, b) => b.score - a.score)),
      (services[0]?.possible ?? 0) / this.#documents.rarestScore,
    ];
    const best = ranked[0]?.relevance ?? 0;
    return best < minRelevance(rareWords)
      ? []
      : ranked.filter(({ relevance }) => relevance >= MIN_SHARE_OF_BEST * best);
  }

  /** The tools by their meaning; undefined without vectors. */
  async #nearest(query: string, among: readonly ServiceEntry[]): Promise<readonly EntryTool[] | undefined> {
    return this.#meanings?.rank(
      query,
      among.flatMap((entry) =>
        partsOf(entry).map((tool) => ({
          item: { entry, tool },
          text: [entry.id, entry.summary, tool?.name, tool?.description].filter(Boolean).join("\n"),
        })),
      ),
    );
  }

  /**
   * The approved services, two at most, that fit a user's message best, for a model; undefined if none fits well.
   * @param among as in `search`
   * @param canSearch whether the model has `search_known_services`
   */
  async hints(message: string, among = this.#source(), canSearch = true): Promise<Hints | undefined> {
    const approved = among.filter(({ trust }) => !marks(trust));
    const hits = await this.search(message, MAX_HINTS, approved);
    const minScore = Math.max(MIN_HINT_SHARE * this.#documents.rarestScore, MIN_HINT_SCORE * (hits[0]?.score ?? 0));
    return writeHints(
      hits.filter(({ score, words, relevance }) => score >= minScore && words >= MIN_HINT_WORDS && relevance >= GUESS),
      canSearch,
    );
  }
}

/** The hits, each at least as relevant as those behind it. */
function falling(hits: readonly ServiceHit[]): readonly ServiceHit[] {
  const relevances = hits.map(({ relevance }) => relevance);
  for (let i = relevances.length - 2; i >= 0; i--) relevances[i] = Math.max(relevances[i] ?? 0, relevances[i + 1] ?? 0);
  return hits.map((hit, i) => ({ ...hit, relevance: relevances[i] ?? 0 }));
}

interface EntryTool {
  readonly entry: ServiceEntry;
  readonly tool: ServiceTool | undefined;
}

/** The tools and skills of a service; itself where it has none. */
function partsOf({ tools, skills = [] }: ServiceEntry): readonly (ServiceTool | undefined)[] {
  return tools.length + skills.length > 0 ? [...tools, ...skills] : [undefined];
}
