/**
 * The marks around words, each with the signs that stand for its begin and its end until all is written. No text of a
 * page has these: they are controls.
 */
const signsOf = { "**": ["\u0001", "\u0002"], "*": ["\u0003", "\u0004"], "~~": ["\u0005", "\u0006"] } as const;
export type Mark = keyof typeof signsOf;

/** Words in a mark, if `settleMarks` finds that a reader sees it. */
export function inMark(words: string, mark: Mark): string {
  const [begin, end] = signsOf[mark];
  return begin + words + end;
}

const ANY = /[\u0001-\u0006]/;
const markOf: ReadonlyMap<string, Mark> = new Map(
  (Object.keys(signsOf) as Mark[]).flatMap((mark) => signsOf[mark].map((sign) => [sign, mark] as const)),
);
const isBegin = (sign: string): boolean => sign.charCodeAt(0) % 2 === 1;

/**
 * Writes the marks around words. What stands beside a mark decides whether a reader of markdown takes it for one:
 * `a**"b"**` shows its asterisks. Such a mark is left out, or changes its place with a sign of the sentence. Takes time
 * in proportion to the length.
 * @see https://spec.commonmark.org/0.31.2/#emphasis-and-strong-emphasis
 */
export function settleMarks(markdown: string): string {
  if (!ANY.test(markdown)) return markdown;
  return markdown
    .split("\n\n")
    .map((block) => (ANY.test(block) ? settle(block) : block))
    .join("\n\n");
}

/**
 * One after the other a mark that is left out changes what stands beside its neighbours. After so many rounds no mark
 * of the block is kept.
 */
const MAX_ROUNDS = 8;

function settle(block: string): string {
  const pieces = withoutSeams(block).split(/([\u0001-\u0006])/);
  const ends = endsIn(pieces);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const unseen = unseenIn(runsIn(pieces));
    if (unseen.length === 0) return pieces.map((piece) => markOf.get(piece) ?? piece).join("");
    for (const at of unseen) for (const sign of [at, ends.get(at) as number]) pieces[sign] = "";
  }
  return pieces.filter((piece) => !markOf.has(piece)).join("");
}

/**
 * One mark where an equal one follows at once, none around nothing, and signs of a sentence that a letter follows
 * outside.
 */
function withoutSeams(block: string): string {
  let text = block.replaceAll(/(?<!\\)([.,:!?…»”’"']{1,3})([\u0002\u0004\u0006]+)(?=[\p{L}\p{N}])/gu, "$2$1");
  for (let last = ""; last !== text; ) {
    last = text;
    text = text.replaceAll(/\u0002\u0001|\u0004\u0003|\u0006\u0005|\u0001\u0002|\u0003\u0004|\u0005\u0006/g, "");
  }
  return text;
}

/** Maps each sign among the pieces to the other sign of its mark. */
function endsIn(pieces: readonly string[]): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const open = new Map<Mark, number>();
  for (const [at, piece] of pieces.entries()) {
    const mark = markOf.get(piece);
    if (mark === undefined) continue;
    const begin = open.get(mark) ?? at;
    if (isBegin(piece)) open.set(mark, at);
    else ends.set(begin, at).set(at, begin);
  }
  return ends;
}

/** Signs of markdown side by side, which a reader takes together. */
interface Run {
  readonly character: string;
  readonly signs: number[];
  /** How many characters of it end marks, and how many begin some. */
  ending: number;
  beginning: number;
  before: string;
  after: string;
}

function runsIn(pieces: readonly string[]): readonly Run[] {
  const runs: Run[] = [];
  let run: Run | undefined;
  let before = "\n";
  for (const [at, piece] of pieces.entries()) {
    if (piece === "") continue;
    const mark = markOf.get(piece);
    const [character = ""] = mark ?? piece;
    if (run?.after === "") run.after = mark === undefined || character !== run.character ? character : "";
    if (mark === undefined) {
      before = [...piece.slice(-2)].at(-1) ?? "";
      run = undefined;
      continue;
    }
    if (run === undefined || run.character !== character) {
      if (run !== undefined) before = run.character;
      run = { character, signs: [], ending: 0, beginning: 0, before, after: "" };
      runs.push(run);
    }
    run.signs.push(at);
    run[isBegin(piece) ? "beginning" : "ending"] += mark.length;
  }
  return runs;
}

/** A run that begins marks whose ends are not found yet. */
interface OpenRun {
  readonly run: Run;
  /** How many characters of it no end has taken. */
  left: number;
}

/** Where signs are that a reader would not take for what they stand for. */
function unseenIn(runs: readonly Run[]): readonly number[] {
  const blind = runs.filter(
    (run) =>
      (run.character === "~" && (run.before === "~" || run.after === "~")) ||
      (run.beginning > 0 && !flanks(run.before, run.after)) ||
      (run.ending > 0 && !flanks(run.after, run.before)),
  );
  if (blind.length > 0) return blind.flatMap(({ signs }) => signs);
  const open: OpenRun[] = [];
  for (const run of runs) {
    let left = run.ending + run.beginning;
    for (let top = open.at(-1); left > 0 && top !== undefined; top = open.at(-1)) {
      const readings = readingsOf(run, left, top);
      if (readings.size > 1) return run.signs;
      if (readings.has(false)) break;
      const length = Math.min(2, left, top.left);
      top.left -= length;
      left -= length;
      if (top.left === 0) open.pop();
    }
    if (left !== run.beginning) return run.signs;
    if (left > 0) open.push({ run, left });
  }
  return open.flatMap(({ run }) => run.signs);
}

/**
 * Tells whether readers take one run for the end of what another begins. Some look at the lengths of the runs, and some
 * at what is left of them.
 */
function readingsOf(end: Run, left: number, { run, left: leftOfBegin }: OpenRun): ReadonlySet<boolean> {
  if (end.character !== run.character || !flanks(end.after, end.before)) return new Set([false]);
  if (!flanks(end.before, end.after) && !flanks(run.after, run.before)) return new Set([true]);
  return new Set([mayPair(end.ending + end.beginning, run.ending + run.beginning), mayPair(left, leftOfBegin)]);
}

const mayPair = (end: number, begin: number): boolean => end % 3 === 0 || (end + begin) % 3 !== 0;

/**
 * Tells whether signs between these characters begin a mark. Read the other way it tells whether they end one. Readers
 * differ in what is punctuation.
 */
function flanks(before: string, after: string): boolean {
  if (after === "" || SPACE.test(after)) return false;
  return !/[\p{P}\p{S}]/u.test(after) || before === "" || SPACE.test(before) || /[\p{P}$+<=>^`|~]/u.test(before);
}

const SPACE = /\s/;
