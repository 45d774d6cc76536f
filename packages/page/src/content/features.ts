import { groupNames } from "./class-groups.ts";
import { type PageView, sumIn, wordsOf } from "./page-view.ts";
import { phraseNames } from "./phrases.ts";
import { type Block, FAR, type Zone } from "./read-blocks.ts";

/** One number that is known of a block. */
export interface Feature {
  readonly name: string;
  readonly of: (block: Block, page: PageView) => number;
}

const log = (value: number): number => Math.log2(1 + value);
const share = (part: number, whole: number): number => (whole > 0 ? part / whole : 0);

const kinds: Readonly<Record<string, number>> = {
  ...{ p: 1, h1: 2, h2: 3, h3: 4, h4: 5, h5: 6, h6: 7, li: 8, td: 9, th: 10, tr: 11, pre: 12, dt: 13, dd: 14, blockquote: 15, figcaption: 16, div: 17 },
  ...{ section: 18, article: 19, button: 20, label: 21, summary: 22, a: 23, address: 24, footer: 25, header: 26, nav: 27, caption: 28, span: 29 },
};

const ofText: readonly Feature[] = [
  { name: "kind", of: ({ zone }) => kinds[zone.name] ?? 0 },
  { name: "words", of: ({ text }) => text.words },
  { name: "word length", of: ({ text }) => share(text.letters, text.words) },
  { name: "link share", of: ({ text }) => share(text.linkWords, text.words) },
  { name: "links", of: ({ text }) => text.links },
  { name: "marks", of: ({ text }) => text.marks },
  { name: "mark share", of: ({ text }) => share(text.marks, text.words) },
  { name: "stop words", of: ({ text }) => share(text.stopWords, text.words) },
  { name: "capitals", of: ({ text }) => share(text.capitals, text.words) },
  { name: "digits", of: ({ text }) => share(text.digits, text.letters) },
  { name: "images", of: ({ text }) => text.images },
  { name: "breaks", of: ({ text }) => text.breaks },
  { name: "stressed", of: ({ text }) => share(text.stressed, text.words) },
  { name: "code", of: ({ text }) => share(text.code, text.words) },
  { name: "ends a sentence", of: ({ text }) => (/[.!?…"”)。]$/.test(text.text) ? 1 : 0) },
  { name: "ends open", of: ({ text }) => (/[:,]$/.test(text.text) ? 1 : 0) },
  { name: "shouts", of: ({ text }) => (text.text.length > 3 && text.text === text.text.toUpperCase() && /[A-Z]/.test(text.text) ? 1 : 0) },
  { name: "repeats", of: ({ index }, { repeats }) => repeats[index] ?? 1 },
  { name: "of the title", of: ({ text }, { titleWords }) => (text.words > 30 ? 0 : shareIn(text.text, titleWords)) },
  { name: "described", of: ({ text }, { described }) => (described.size === 0 ? -1 : shareIn(text.text, described)) },
  ...phraseNames.map((name, bit) => ({ name: `says ${name}`, of: ({ index }: Block, { phrases }: PageView) => ((phrases[index] ?? 0) >> bit) & 1 })),
];

function shareIn(text: string, known: ReadonlySet<string>): number {
  if (known.size === 0) return 0;
  const words = wordsOf(text);
  return share(words.filter((word) => known.has(word)).length, words.length);
}

const ofPlace: readonly Feature[] = [
  { name: "place in blocks", of: ({ index }, { blocks }) => index / blocks.length },
  { name: "place in words", of: ({ index }, { sums, words }) => share(sums.words[index] ?? 0, words) },
  { name: "place in prose", of: ({ index }, { sums, blocks }) => share(sums.prose[index] ?? 0, sums.prose[blocks.length] ?? 0) },
  { name: "words before", of: ({ index }, { sums }) => log(sums.words[index] ?? 0) },
  { name: "prose before", of: ({ index }, { sums }) => log(sums.prose[index] ?? 0) },
  { name: "prose after", of: ({ index }, { sums, blocks }) => log(sumIn(sums.prose, index + 1, blocks.length)) },
  { name: "depth", of: ({ zone }) => zone.depth },
  { name: "after the title", of: ({ index }, { titleIndex }) => (titleIndex < 0 ? 0 : Math.max(-60, Math.min(200, index - titleIndex))) },
  { name: "has a title", of: (_, { titleIndex }) => (titleIndex < 0 ? 0 : 1) },
  { name: "from a heading", of: ({ index }, { headingBefore }) => ((headingBefore[index] ?? -1) < 0 ? 200 : index - (headingBefore[index] ?? 0)) },
  { name: "heading's rank", of: (block, page) => kinds[headingOf(block, page)?.zone.name ?? ""] ?? 0 },
  { name: "heading's links", of: (block, page) => ((headingOf(block, page)?.text.linkWords ?? 0) > 0 ? 1 : 0) },
  { name: "heading's depth", of: (block, page) => block.zone.depth - (headingOf(block, page)?.zone.depth ?? 0) },
  ...phraseNames.map((name, bit) => ({
    name: `heading says ${name}`,
    of: ({ index }: Block, { phrases, headingBefore }: PageView) => (((phrases[headingBefore[index] ?? -1] ?? 0) as number) >> bit) & 1,
  })),
  { name: "hidden from readers", of: ({ zone }) => (zone.isHiddenFromReaders ? 1 : 0) },
  ...[-3, -2, -1, 1, 2, 3].flatMap((step): Feature[] => [
    { name: `words at ${step}`, of: ({ index }, { blocks }) => blocks[index + step]?.text.words ?? -1 },
    { name: `links at ${step}`, of: ({ index }, { blocks }) => share(blocks[index + step]?.text.linkWords ?? 0, blocks[index + step]?.text.words ?? 0) },
    { name: `kind at ${step}`, of: ({ index }, { blocks }) => kinds[blocks[index + step]?.zone.name ?? ""] ?? 0 },
  ]),
  { name: "prose around", of: ({ index }, { sums, blocks }) => log(sumIn(sums.prose, Math.max(0, index - 6), Math.min(blocks.length, index + 7))) },
  { name: "links around", of: ({ index }, page) => linkShare(page, Math.max(0, index - 6), Math.min(page.blocks.length, index + 7)) },
];

const headingOf = ({ index }: Block, { headingBefore, blocks }: PageView): Block | undefined => blocks[headingBefore[index] ?? -1];
const linkShare = ({ sums }: PageView, first: number, end: number): number => share(sumIn(sums.linkWords, first, end), sumIn(sums.words, first, end));

const ofGroups: readonly Feature[] = groupNames.map((name, i) => ({ name: `in ${name}`, of: ({ zone }) => Math.min(FAR, zone.groups[i] ?? FAR) }));

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

const ofZones: readonly Feature[] = Object.entries(around).flatMap(([name, zoneOf]): Feature[] => [
  { name: `${name}: words`, of: (block, page) => log(wordsIn(zoneOf(block, page), page)) },
  { name: `${name}: share`, of: (block, page) => share(wordsIn(zoneOf(block, page), page), page.words) },
  { name: `${name}: links`, of: (block, page) => linkShare(page, zoneOf(block, page).first, zoneOf(block, page).end) },
  { name: `${name}: prose`, of: (block, page) => share(proseIn(zoneOf(block, page), page), wordsIn(zoneOf(block, page), page)) },
  { name: `${name}: share of prose`, of: (block, page) => share(proseIn(zoneOf(block, page), page), page.sums.prose[page.blocks.length] ?? 0) },
  { name: `${name}: words a block`, of: (block, page) => share(wordsIn(zoneOf(block, page), page), zoneOf(block, page).end - zoneOf(block, page).first) },
  { name: `${name}: headings`, of: (block, page) => sumIn(page.sums.headings, zoneOf(block, page).first, zoneOf(block, page).end) },
]);

const wordsIn = ({ first, end }: Zone, { sums }: PageView): number => sumIn(sums.words, first, end);
const proseIn = ({ first, end }: Zone, { sums }: PageView): number => sumIn(sums.prose, first, end);

/** The zone around of which there are most that look alike, such as an item, a card or a comment. */
function repeated(zone: Zone): Zone | undefined {
  let best: Zone | undefined;
  let most = 2;
  for (let steps = 0, at: Zone | undefined = zone; at !== undefined && steps < 10; steps++, at = at.parent) {
    const count = at.alike?.zones.length ?? 0;
    if (count > most) [best, most] = [at, count];
  }
  return best;
}

const ofRepetition: readonly Feature[] = [
  { name: "alike", of: ({ zone }) => repeated(zone)?.alike?.zones.length ?? 0 },
  { name: "alike: words each", of: ({ zone }, page) => eachOf(zone, (at) => wordsIn(at, page)) },
  { name: "alike: blocks each", of: ({ zone }) => eachOf(zone, ({ first, end }) => end - first) },
  { name: "alike: prose each", of: ({ zone }, page) => eachOf(zone, (at) => proseIn(at, page)) },
  { name: "alike: links each", of: ({ zone }, page) => eachOf(zone, (at) => sumIn(page.sums.linkWords, at.first, at.end)) },
  { name: "alike: images each", of: ({ zone }, page) => eachOf(zone, (at) => sumIn(page.sums.images, at.first, at.end)) },
  { name: "alike: share", of: ({ zone }, page) => share(eachOf(zone, (at) => wordsIn(at, page)) * (repeated(zone)?.alike?.zones.length ?? 0), page.words) },
  { name: "alike: place", of: ({ zone }) => placeIn(repeated(zone)) },
  { name: "alike: kind", of: ({ zone }) => kinds[repeated(zone)?.name ?? ""] ?? 0 },
  { name: "alike: steps", of: ({ zone }) => zone.depth - (repeated(zone)?.depth ?? zone.depth + 1) },
];

function eachOf(zone: Zone, of: (zone: Zone) => number): number {
  const zones = repeated(zone)?.alike?.zones ?? [];
  const looked = zones.slice(0, 30);
  return share(
    looked.reduce((sum, at) => sum + of(at), 0),
    looked.length,
  );
}

const placeIn = (zone: Zone | undefined): number => zone?.place ?? -1;

/** Where the way to the core is left. */
function forkOf({ zone }: Block, { core }: PageView): { readonly fork: Zone; readonly branch: Zone; readonly steps: number } {
  let branch = zone;
  let fork = zone;
  let steps = 0;
  for (; !core.has(fork) && fork.parent !== undefined; fork = fork.parent) {
    branch = fork;
    steps++;
  }
  return { fork, branch, steps };
}

const ofCore: readonly Feature[] = [
  { name: "core: steps", of: (block, page) => forkOf(block, page).steps },
  { name: "core: level", of: (block, page) => page.coreZone.depth - forkOf(block, page).fork.depth },
  { name: "core: before", of: (block, page) => (block.index < page.coreZone.first ? 1 : block.index >= page.coreZone.end ? 2 : 0) },
  { name: "core: branch's words", of: (block, page) => log(wordsIn(forkOf(block, page).branch, page)) },
  { name: "core: branch's links", of: (block, page) => linkShare(page, forkOf(block, page).branch.first, forkOf(block, page).branch.end) },
  { name: "core: branch's prose", of: (block, page) => share(proseIn(forkOf(block, page).branch, page), page.sums.prose[page.blocks.length] ?? 0) },
  { name: "core: place", of: ({ index }, { coreZone }) => share(index - coreZone.first, coreZone.end - coreZone.first) },
];

/** Of the page: the same for each of its blocks. */
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
  ...["article", "main", "pre", "table", "li", "form", "button", "section", "dl", "details", "blockquote", "h1", "h2", "h3", "aside", "nav"].map((name) => ({
    name: `page: ${name}`,
    of: ({ elements }: PageView) => log(elements.get(name) ?? 0),
  })),
  { name: "page: core", of: (page) => share(wordsIn(page.coreZone, page), page.words) },
  { name: "page: core's prose", of: (page) => share(proseIn(page.coreZone, page), wordsIn(page.coreZone, page)) },
  { name: "page: core's words", of: (page) => log(wordsIn(page.coreZone, page)) },
  { name: "page: core's links", of: (page) => linkShare(page, page.coreZone.first, page.coreZone.end) },
  { name: "page: longest", of: ({ blocks }) => log(blocks.reduce((most, { text }) => Math.max(most, text.words), 0)) },
  { name: "page: most alike", of: ({ zones }) => log(zones.reduce((most, { alike }) => Math.max(most, alike?.zones.length ?? 0), 0)) },
  ...["product", "comments", "price", "date", "action", "review", "faq", "shipping"].map((name) => ({
    name: `page: says ${name}`,
    of: ({ phrases, blocks }: PageView) => share(phrases.filter((bits) => ((bits >> phraseNames.indexOf(name)) & 1) === 1).length, blocks.length),
  })),
  ...[
    ["article", /^(?:newsarticle|article|blogposting|reportagenewsarticle|techarticle|liveblogposting)$/],
    ["product", /^(?:product|productgroup|offer|aggregateoffer|og:product|og:og:product)$/],
    ["list", /^(?:itemlist|collectionpage|offercatalog|searchresultspage)$/],
    ["question", /^(?:qapage|question|discussionforumposting|answer|comment)$/],
    ["service", /^(?:service|localbusiness|professionalservice|organization|corporation|medicalbusiness|faqpage)$/],
    ["og article", /^og:article$/],
    ["og website", /^og:website$/],
    ["recipe", /^(?:recipe|howto|course|event|jobposting|book|movie|softwareapplication|webapplication)$/],
  ].map(([name, pattern]) => ({
    name: `page: is ${String(name)}`,
    of: ({ types }: PageView) => ([...types].some((type) => (pattern as RegExp).test(type)) ? 1 : 0),
  })),
  { name: "page: described", of: ({ described }) => log(described.size) },
];

export const blockFeatures: readonly Feature[] = [...ofText, ...ofPlace, ...ofGroups, ...ofZones, ...ofRepetition, ...ofCore];
