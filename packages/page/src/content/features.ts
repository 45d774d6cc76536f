import { groupNames } from "./class-groups.ts";
import { type PageView, sumIn, wordsOf } from "./page-view.ts";
import { phraseNames } from "./phrases.ts";
import { type Alike, type Block, FAR, type Zone } from "./read-blocks.ts";

/** A block with what many of its numbers are taken from. */
export interface PlacedBlock extends Block {
  /** The zones that `around` names. */
  readonly around: readonly Zone[];
  /** The zone around of which there are most that look alike, such as an item, a card or a comment. */
  readonly repeated: Zone | undefined;
  readonly each: Each;
  readonly fork: Fork;
}

/** The mean of one zone among those that look alike. */
interface Each {
  readonly words: number;
  readonly blocks: number;
  readonly prose: number;
  readonly linkWords: number;
  readonly images: number;
}

/** Where the way to the core is left. */
interface Fork {
  readonly at: Zone;
  readonly branch: Zone;
  readonly steps: number;
}

/** One number that is known of a block. */
export interface Feature {
  readonly name: string;
  readonly of: (block: PlacedBlock, page: PageView) => number;
}

const log = (value: number): number => Math.log2(1 + value);
const share = (part: number, whole: number): number => (whole > 0 ? part / whole : 0);

const kinds: Readonly<Record<string, number>> = {
  ...{
    p: 1,
    h1: 2,
    h2: 3,
    h3: 4,
    h4: 5,
    h5: 6,
    h6: 7,
    li: 8,
    td: 9,
    th: 10,
    tr: 11,
    pre: 12,
    dt: 13,
    dd: 14,
    blockquote: 15,
    figcaption: 16,
    div: 17,
  },
  ...{
    section: 18,
    article: 19,
    button: 20,
    label: 21,
    summary: 22,
    a: 23,
    address: 24,
    footer: 25,
    header: 26,
    nav: 27,
    caption: 28,
    span: 29,
  },
};

const ofText: readonly Feature[] = [
  { name: "kind", of: ({ zone }) => kinds[zone.name] ?? 0 },
  { name: "words", of: ({ text }) => text.words },
  { name: "word length", of: ({ text }) => share(text.letters, text.words) },
  { name: "link share", of: ({ text }) => share(text.linkWords, text.words) },
  { name: "marks", of: ({ text }) => text.marks },
  { name: "mark share", of: ({ text }) => share(text.marks, text.words) },
  { name: "stop words", of: ({ text }) => share(text.stopWords, text.words) },
  { name: "capitals", of: ({ text }) => share(text.capitals, text.words) },
  { name: "digits", of: ({ text }) => share(text.digits, text.letters) },
  { name: "images", of: ({ text }) => text.images },
  { name: "stressed", of: ({ text }) => share(text.stressed, text.words) },
  { name: "ends a sentence", of: ({ text }) => (/[.!?…"”)。]$/.test(text.text) ? 1 : 0) },
  { name: "repeats", of: ({ index }, { repeats }) => repeats[index] ?? 1 },
  { name: "of the title", of: ({ text }, { titleWords }) => (text.words > 30 ? 0 : shareIn(text.text, titleWords)) },
  { name: "described", of: ({ text }, { described }) => (described.size === 0 ? -1 : shareIn(text.text, described)) },
  ...phraseNames.map((name, bit) => ({
    name: `says ${name}`,
    of: ({ index }: Block, { phrases }: PageView) => ((phrases[index] ?? 0) >> bit) & 1,
  })),
];

function shareIn(text: string, known: ReadonlySet<string>): number {
  if (known.size === 0) return 0;
  const words = wordsOf(text);
  return share(words.filter((word) => known.has(word)).length, words.length);
}

const ofPlace: readonly Feature[] = [
  { name: "place in blocks", of: ({ index }, { blocks }) => index / blocks.length },
  { name: "place in words", of: ({ index }, { sums, words }) => share(sums.words[index] ?? 0, words) },
  {
    name: "place in prose",
    of: ({ index }, { sums, blocks }) => share(sums.prose[index] ?? 0, sums.prose[blocks.length] ?? 0),
  },
  { name: "words before", of: ({ index }, { sums }) => log(sums.words[index] ?? 0) },
  { name: "prose before", of: ({ index }, { sums }) => log(sums.prose[index] ?? 0) },
  { name: "prose after", of: ({ index }, { sums, blocks }) => log(sumIn(sums.prose, index + 1, blocks.length)) },
  { name: "depth", of: ({ zone }) => zone.depth },
  {
    name: "after the title",
    of: ({ index }, { titleIndex }) => (titleIndex < 0 ? 0 : Math.max(-60, Math.min(200, index - titleIndex))),
  },
  {
    name: "from a heading",
    of: ({ index }, { headingBefore }) =>
      (headingBefore[index] ?? -1) < 0 ? 200 : index - (headingBefore[index] ?? 0),
  },
  { name: "heading's rank", of: (block, page) => kinds[headingOf(block, page)?.zone.name ?? ""] ?? 0 },
  { name: "heading's depth", of: (block, page) => block.zone.depth - (headingOf(block, page)?.zone.depth ?? 0) },
  ...["related", "comments", "review", "product"].map((name) => ({
    name: `heading says ${name}`,
    of: ({ index }: Block, { phrases, headingBefore }: PageView) =>
      (((phrases[headingBefore[index] ?? -1] ?? 0) as number) >> phraseNames.indexOf(name)) & 1,
  })),
  ...[-2, -1, 1, 2].flatMap((step): Feature[] => [
    { name: `words at ${step}`, of: ({ index }, { blocks }) => blocks[index + step]?.text.words ?? -1 },
    { name: `kind at ${step}`, of: ({ index }, { blocks }) => kinds[blocks[index + step]?.zone.name ?? ""] ?? 0 },
  ]),
  {
    name: "prose around",
    of: ({ index }, { sums, blocks }) =>
      log(sumIn(sums.prose, Math.max(0, index - 6), Math.min(blocks.length, index + 7))),
  },
  {
    name: "links around",
    of: ({ index }, page) => linkShare(page, Math.max(0, index - 6), Math.min(page.blocks.length, index + 7)),
  },
];

const headingOf = ({ index }: Block, { headingBefore, blocks }: PageView): Block | undefined =>
  blocks[headingBefore[index] ?? -1];
const linkShare = ({ sums }: PageView, first: number, end: number): number =>
  share(sumIn(sums.linkWords, first, end), sumIn(sums.words, first, end));

const ofGroups: readonly Feature[] = groupNames.map((name, i) => ({
  name: `in ${name}`,
  of: ({ zone }) => Math.min(FAR, zone.groups[i] ?? FAR),
}));

/** The zone so many steps up, or the outermost. */
function up(zone: Zone, steps: number): Zone {
  let found = zone;
  for (let i = 0; i < steps && found.parent !== undefined; i++) found = found.parent;
  return found;
}

/** The nearest zone around that holds so many words. */
function holding(zone: Zone, words: number, { sums }: PageView): Zone {
  let found = zone;
  while (found.parent !== undefined && sumIn(sums.words, found.first, found.end) < words) found = found.parent;
  return found;
}

const around: Readonly<Record<string, (block: Block, page: PageView) => Zone>> = {
  "zone 0": ({ zone }) => zone,
  "zone 1": ({ zone }) => up(zone, 1),
  "zone 2": ({ zone }) => up(zone, 2),
  "zone 3": ({ zone }) => up(zone, 3),
  "zone 5": ({ zone }) => up(zone, 5),
  "zone of 60": ({ zone }, page) => holding(zone, 60, page),
  "zone of 250": ({ zone }, page) => holding(zone, 250, page),
};
const aroundOf = Object.values(around);

const ofZones: readonly Feature[] = Object.keys(around).flatMap((name, i): Feature[] => {
  const zoneOf = (block: PlacedBlock): Zone => block.around[i] as Zone;
  return [
    { name: `${name}: words`, of: (block, page) => log(wordsIn(zoneOf(block), page)) },
    { name: `${name}: share`, of: (block, page) => share(wordsIn(zoneOf(block), page), page.words) },
    { name: `${name}: links`, of: (block, page) => linkShare(page, zoneOf(block).first, zoneOf(block).end) },
    { name: `${name}: prose`, of: (block, page) => share(proseIn(zoneOf(block), page), wordsIn(zoneOf(block), page)) },
    {
      name: `${name}: share of prose`,
      of: (block, page) => share(proseIn(zoneOf(block), page), page.sums.prose[page.blocks.length] ?? 0),
    },
    {
      name: `${name}: words a block`,
      of: (block, page) => share(wordsIn(zoneOf(block), page), zoneOf(block).end - zoneOf(block).first),
    },
    {
      name: `${name}: headings`,
      of: (block, page) => sumIn(page.sums.headings, zoneOf(block).first, zoneOf(block).end),
    },
  ];
});

const wordsIn = ({ first, end }: Zone, { sums }: PageView): number => sumIn(sums.words, first, end);
const proseIn = ({ first, end }: Zone, { sums }: PageView): number => sumIn(sums.prose, first, end);

const ofRepetition: readonly Feature[] = [
  { name: "alike", of: ({ repeated }) => repeated?.alike?.zones.length ?? 0 },
  { name: "alike: words each", of: ({ each }) => each.words },
  { name: "alike: blocks each", of: ({ each }) => each.blocks },
  { name: "alike: prose each", of: ({ each }) => each.prose },
  { name: "alike: links each", of: ({ each }) => each.linkWords },
  { name: "alike: images each", of: ({ each }) => each.images },
  {
    name: "alike: share",
    of: ({ repeated, each }, page) => share(each.words * (repeated?.alike?.zones.length ?? 0), page.words),
  },
  { name: "alike: place", of: ({ repeated }) => repeated?.place ?? -1 },
  { name: "alike: kind", of: ({ repeated }) => kinds[repeated?.name ?? ""] ?? 0 },
  { name: "alike: steps", of: ({ zone, repeated }) => zone.depth - (repeated?.depth ?? zone.depth + 1) },
];

const ofCore: readonly Feature[] = [
  { name: "core: steps", of: ({ fork }) => fork.steps },
  { name: "core: level", of: ({ fork }, page) => page.coreZone.depth - fork.at.depth },
  {
    name: "core: before",
    of: (block, page) => (block.index < page.coreZone.first ? 1 : block.index >= page.coreZone.end ? 2 : 0),
  },
  { name: "core: branch's words", of: ({ fork }, page) => log(wordsIn(fork.branch, page)) },
  { name: "core: branch's links", of: ({ fork }, page) => linkShare(page, fork.branch.first, fork.branch.end) },
  {
    name: "core: branch's prose",
    of: ({ fork }, page) => share(proseIn(fork.branch, page), page.sums.prose[page.blocks.length] ?? 0),
  },
  {
    name: "core: place",
    of: ({ index }, { coreZone }) => share(index - coreZone.first, coreZone.end - coreZone.first),
  },
];

/** The blocks of a page, each with its surroundings: these are looked for once, and not again for each number. */
export function placeBlocks(page: PageView): PlacedBlock[] {
  const known = new Map<Zone, Omit<PlacedBlock, keyof Block>>();
  const eachOf = new Map<Alike | undefined, Each>();
  return page.blocks.map((block) => {
    let place = known.get(block.zone);
    if (place === undefined) {
      const repeated = repeatedAround(block.zone);
      const each = eachOf.get(repeated?.alike) ?? meansOf(repeated?.alike, page);
      eachOf.set(repeated?.alike, each);
      place = { around: aroundOf.map((zoneOf) => zoneOf(block, page)), repeated, each, fork: forkOf(block.zone, page) };
      known.set(block.zone, place);
    }
    return { ...block, ...place };
  });
}

function repeatedAround(zone: Zone): Zone | undefined {
  let best: Zone | undefined;
  let most = 2;
  for (let steps = 0, at: Zone | undefined = zone; at !== undefined && steps < 10; steps++, at = at.parent) {
    const count = at.alike?.zones.length ?? 0;
    if (count > most) [best, most] = [at, count];
  }
  return best;
}

function meansOf(alike: Alike | undefined, page: PageView): Each {
  const looked = alike?.zones.slice(0, 30) ?? [];
  const mean = (of: (zone: Zone) => number): number =>
    share(
      looked.reduce((sum, zone) => sum + of(zone), 0),
      looked.length,
    );
  return {
    words: mean((zone) => wordsIn(zone, page)),
    blocks: mean(({ first, end }) => end - first),
    prose: mean((zone) => proseIn(zone, page)),
    linkWords: mean(({ first, end }) => sumIn(page.sums.linkWords, first, end)),
    images: mean(({ first, end }) => sumIn(page.sums.images, first, end)),
  };
}

function forkOf(zone: Zone, { core }: PageView): Fork {
  let branch = zone;
  let at = zone;
  let steps = 0;
  for (; !core.has(at) && at.parent !== undefined; at = at.parent) {
    branch = at;
    steps++;
  }
  return { at, branch, steps };
}

/** Features of the page, the same for each of its blocks. */
export const pageFeatures: readonly { readonly name: string; readonly of: (page: PageView) => number }[] = [
  { name: "page: words", of: ({ words }) => log(words) },
  { name: "page: blocks", of: ({ blocks }) => log(blocks.length) },
  { name: "page: words a block", of: ({ words, blocks }) => share(words, blocks.length) },
  { name: "page: links", of: ({ sums, words, blocks }) => share(sums.linkWords[blocks.length] ?? 0, words) },
  { name: "page: prose", of: ({ sums, words, blocks }) => share(sums.prose[blocks.length] ?? 0, words) },
  { name: "page: prose words", of: ({ sums, blocks }) => log(sums.prose[blocks.length] ?? 0) },
  { name: "page: digits", of: ({ sums, words, blocks }) => share(sums.digits[blocks.length] ?? 0, words) },
  { name: "page: images", of: ({ sums, blocks }) => log(sums.images[blocks.length] ?? 0) },
  { name: "page: headings", of: ({ sums, blocks }) => log(sums.headings[blocks.length] ?? 0) },
  ...["article", "pre", "li", "form", "button", "section", "h1", "h2", "h3", "aside", "nav"].map((name) => ({
    name: `page: ${name}`,
    of: ({ elements }: PageView) => log(elements.get(name) ?? 0),
  })),
  { name: "page: core", of: (page) => share(wordsIn(page.coreZone, page), page.words) },
  { name: "page: core's prose", of: (page) => share(proseIn(page.coreZone, page), wordsIn(page.coreZone, page)) },
  { name: "page: core's words", of: (page) => log(wordsIn(page.coreZone, page)) },
  { name: "page: core's links", of: (page) => linkShare(page, page.coreZone.first, page.coreZone.end) },
  { name: "page: longest", of: ({ blocks }) => log(blocks.reduce((most, { text }) => Math.max(most, text.words), 0)) },
  {
    name: "page: most alike",
    of: ({ zones }) => log(zones.reduce((most, { alike }) => Math.max(most, alike?.zones.length ?? 0), 0)),
  },
  ...["product", "comments", "price", "date", "action", "review", "faq", "shipping"].map((name) => ({
    name: `page: says ${name}`,
    of: ({ phrases, blocks }: PageView) =>
      share(phrases.filter((bits) => ((bits >> phraseNames.indexOf(name)) & 1) === 1).length, blocks.length),
  })),
  ...[
    ["product", /^(?:product|productgroup|offer|aggregateoffer|og:product|og:og:product)$/],
    ["og article", /^og:article$/],
    ["og website", /^og:website$/],
  ].map(([name, pattern]) => ({
    name: `page: is ${String(name)}`,
    of: ({ types }: PageView) => ([...types].some((type) => (pattern as RegExp).test(type)) ? 1 : 0),
  })),
  { name: "page: described", of: ({ described }) => log(described.size) },
];

export const blockFeatures: readonly Feature[] = [
  ...ofText,
  ...ofPlace,
  ...ofGroups,
  ...ofZones,
  ...ofRepetition,
  ...ofCore,
];
