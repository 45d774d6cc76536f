import leven from "leven";
import { allToolNames } from "./generated/tools.ts";

/** Tools that a wrong name may mean, the likeliest first, and how many are as likely besides. */
export interface NearestTools {
  readonly names: readonly string[];
  readonly more: number;
  /** The same as a question, which ends a sentence; undefined if there is nothing to suggest. */
  readonly help: string | undefined;
}

const MOST = 3;
/** Callers choose the name, and the time that a comparison takes grows with its length. */
const MAX_NAME = 128;

/**
 * The one ranking for suggestions of tools. First come those that are called so at their server, then slips of the pen,
 * then those that share most of their words. The part after the last `__` counts like the whole name.
 * @param known those that the caller may use
 * @param isDenied whether the caller may not use a tool of that name: then none of another server takes its place
 */
export function nearestTools(
  name: string,
  known: readonly string[],
  { isDenied = true }: { readonly isDenied?: boolean } = {},
): NearestTools {
  if (name.length > MAX_NAME) return { names: [], more: 0, help: undefined };
  const { server, own } = partsOf(name);
  const isBound = isDenied && (server !== undefined || allToolNames.includes(name));
  const ranked = known
    .filter((candidate) => !isBound || partsOf(candidate).server?.toLowerCase() === server?.toLowerCase())
    .map((candidate) => ({ candidate, count: slips(name, candidate) }))
    .map(({ candidate, count }) => ({ candidate, count, rank: rankOf({ server, own }, candidate, count) }))
    .filter(({ rank }) => rank < FAR)
    .sort((a, b) => a.rank - b.rank || a.count - b.count || (a.candidate < b.candidate ? -1 : 1));
  const best = ranked[0]?.rank ?? FAR;
  const found = ranked.filter(({ rank }) => Math.trunc(rank) <= Math.trunc(best) + (best >= 1 && best < WORDS ? 1 : 0));
  const names = found.slice(0, MOST).map(({ candidate }) => candidate);
  const more = found.length - names.length;
  const choice = [...names.map((each) => JSON.stringify(each)), ...(more > 0 ? [`one of ${more} more`] : [])];
  const help =
    names.length === 0
      ? undefined
      : `did you mean ${new Intl.ListFormat("en", { type: "disjunction" }).format(choice)}?`;
  return { names, more, help };
}

/** The question behind a text without its full stop; empty if there is nothing to suggest. */
export function orDidYouMean(name: string, known: readonly string[]): string {
  const { help } = nearestTools(name, known);
  return help === undefined ? "" : `. D${help.slice(1)}`;
}

/** Ranks of words begin here, above those of slips of the pen. */
const WORDS = 100;
const FAR = WORDS + 1;

/** @param count of slips in the whole name */
function rankOf({ server = "", own }: ReturnType<typeof partsOf>, candidate: string, count: number): number {
  const { server: theirServer = "", own: theirs } = partsOf(candidate);
  if (letters(own) === letters(theirs))
    return wordsOf(theirServer).some((word) => wordsOf(server).includes(word)) ? 0 : 1 / 2;
  const fewest = Math.min(count, slips(own, theirs));
  if (fewest < WORDS) return fewest;
  const words = wordsOf(own);
  const shared = wordsOf(theirs).filter((word) => words.includes(word));
  const part = shared.join("").length / words.join("").length;
  return part >= 1 / 2 ? WORDS + (1 - Math.min(1, part)) : FAR;
}

/** `WORDS` if they are too many to be slips. */
function slips(name: string, candidate: string): number {
  const most = Math.max(2, Math.floor(name.length / 3));
  const count = leven(name.toLowerCase(), candidate.toLowerCase(), { maxDistance: most + 1 });
  return count > most ? WORDS : Math.max(1, count);
}

function partsOf(name: string): { readonly server: string | undefined; readonly own: string } {
  const at = name.lastIndexOf("__");
  return at <= 0 ? { server: undefined, own: name } : { server: name.slice(0, at), own: name.slice(at + 2) };
}

const letters = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

const wordsOf = (name: string): readonly string[] => [
  ...new Set(
    name
      .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
      .toLowerCase()
      .match(/[a-z0-9]{3,}/g),
  ),
];
