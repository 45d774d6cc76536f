import { type PageFacts, typesOf } from "./page-facts.ts";
import { phrasesIn } from "./phrases.ts";
import type { Block, PageBlocks, Zone } from "./read-blocks.ts";

/** A page's blocks with all that is asked of them more than once. */
export interface PageView extends PageBlocks {
  readonly facts: PageFacts;
  readonly words: number;
  /**
   * Sums over all blocks before one, by its index: of words, of words in links, of prose, of marks, of headings, of
   * stop words.
   */
  readonly sums: Readonly<Record<SumName, Float64Array>>;
  readonly phrases: Int32Array;
  /** The index of the last heading at or before each block, -1 where there is none. */
  readonly headingBefore: Int32Array;
  /** The first heading of the first rank, or what repeats the title; -1 where there is none. */
  readonly titleIndex: number;
  /** How often each block's text stands on the page. */
  readonly repeats: Int32Array;
  /** From the page to the innermost zone that holds most of the prose. */
  readonly core: ReadonlySet<Zone>;
  readonly coreZone: Zone;
  readonly titleWords: ReadonlySet<string>;
  readonly described: ReadonlySet<string>;
  readonly types: ReadonlySet<string>;
  readonly elements: ReadonlyMap<string, number>;
}

const sumNames = ["words", "linkWords", "prose", "marks", "headings", "stopWords", "images", "digits"] as const;
export type SumName = (typeof sumNames)[number];

export function viewPage(page: PageBlocks, facts: PageFacts): PageView {
  const { blocks, zones, pictures } = page;
  const sums = sumsOf(blocks);
  const phrases = Int32Array.from(blocks, ({ text }) => phrasesIn(text.text));
  const titleWords = new Set(wordsOf(`${facts.meta.get("og:title") ?? facts.title ?? ""}`));
  const counts = new Map<string, number>();
  for (const { text } of blocks) counts.set(text.text, (counts.get(text.text) ?? 0) + 1);
  const { core, coreZone } = findCore(zones, sums.prose);
  const elements = new Map<string, number>();
  for (const { name } of zones) elements.set(name, (elements.get(name) ?? 0) + 1);
  const types = new Set([
    ...facts.things.flatMap(typesOf),
    ...[facts.meta.get("og:type")?.toLowerCase() ?? ""].map((type) => `og:${type}`),
  ]);
  return {
    ...{ blocks, zones, pictures, facts, sums, phrases, titleWords, core, coreZone, elements, types },
    words: sums.words[blocks.length] ?? 0,
    headingBefore: headingsBefore(blocks),
    titleIndex: titleIndexOf(blocks, titleWords),
    repeats: Int32Array.from(blocks, ({ text }) => counts.get(text.text) ?? 1),
    described: new Set(described(facts)),
  };
}

/** A sum over the blocks from `first` up to `end`. */
export const sumIn = (sums: Float64Array, first: number, end: number): number => (sums[end] ?? 0) - (sums[first] ?? 0);

/** Long enough, and without links enough, to be read as sentences. */
const isProse = ({ text }: Block): boolean =>
  text.words >= 8 && text.linkWords < 0.4 * text.words && text.marks + text.stopWords >= 3;

const isHeading = ({ zone }: Block): boolean => headingNames.has(zone.name);
const headingNames: ReadonlySet<string> = new Set(["h1", "h2", "h3", "h4", "h5", "h6"]);

function sumsOf(blocks: readonly Block[]): Readonly<Record<SumName, Float64Array>> {
  const sums = Object.fromEntries(sumNames.map((name) => [name, new Float64Array(blocks.length + 1)])) as Record<
    SumName,
    Float64Array
  >;
  const add = (name: SumName, i: number, value: number): void => {
    sums[name][i + 1] = (sums[name][i] ?? 0) + value;
  };
  blocks.forEach((block, i) => {
    const { text } = block;
    add("words", i, text.words);
    add("linkWords", i, text.linkWords);
    add("prose", i, isProse(block) ? text.words : 0);
    add("marks", i, text.marks);
    add("headings", i, isHeading(block) ? 1 : 0);
    add("stopWords", i, text.stopWords);
    add("images", i, text.images);
    add("digits", i, text.digits);
  });
  return sums;
}

function headingsBefore(blocks: readonly Block[]): Int32Array {
  let last = -1;
  return Int32Array.from(blocks, (block, i) => {
    if (isHeading(block)) last = i;
    return last;
  });
}

function titleIndexOf(blocks: readonly Block[], titleWords: ReadonlySet<string>): number {
  let best = -1;
  let bestScore = 0.5;
  for (const { index, zone, text } of blocks) {
    if (!headingNames.has(zone.name) || text.text === "") continue;
    const words = wordsOf(text.text);
    const share = words.filter((word) => titleWords.has(word)).length / Math.max(words.length, 1);
    const score = share * Math.min(1, words.length / 3) + (zone.name === "h1" ? 0.6 : zone.name === "h2" ? 0.1 : 0);
    if (score > bestScore) [best, bestScore] = [index, score];
  }
  return best;
}

/** How much of a zone's prose the next on the way to the core has to hold. */
const MOST = 0.6;

function findCore(zones: readonly Zone[], prose: Float64Array): { core: ReadonlySet<Zone>; coreZone: Zone } {
  let coreZone = zones[0] as Zone;
  const core = new Set([coreZone]);
  // Zones stand in document order, each before those that it holds.
  for (const zone of zones) {
    if (zone.parent !== coreZone) continue;
    const all = sumIn(prose, coreZone.first, coreZone.end);
    if (all === 0 || sumIn(prose, zone.first, zone.end) < MOST * all) continue;
    coreZone = zone;
    core.add(zone);
  }
  return { core, coreZone };
}

export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** The words of what the page says of itself, as far as it is said in sentences. */
function described({ meta, things }: PageFacts): string[] {
  const texts = [
    meta.get("description"),
    meta.get("og:description"),
    ...things.flatMap((thing) => [thing["description"], thing["articleBody"], thing["text"]]),
  ];
  return texts.flatMap((text) => (typeof text === "string" ? wordsOf(text.slice(0, 20_000)) : []));
}
