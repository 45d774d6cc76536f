import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { sourceFiles } from "../check-functions.ts";
import { markdownFiles, proseOf } from "./markdown.ts";
import { type English, fragmentIn, readEnglish } from "./read-english.ts";
import { schemaTexts } from "./schema-texts.ts";
import { sourceTexts } from "./source-texts.ts";

/** The pages that a newcomer reads first. */
const frontPages: Readonly<Record<string, { readonly maxLines: number }>> = {
  "README.md": { maxLines: 130 },
  "ARCHITECTURE.md": { maxLines: 200 },
};
const MAX_MEDIAN = 15;

/** Tables of these are data that a command wrote. */
const isData = (file: string): boolean => /^docs\/(?:(?:measured|reference)\/|operate\/secure\.md$)/.test(file);
const isRead = (file: string): boolean => /^(?:[A-Z]+\.md|docs\/.*\.md)$/.test(file);

/**
 * Fails on sentences that are too long, on forms that hide the actor, and on front pages that are too long.
 * @returns what was read
 */
export async function checkEnglish(root: string): Promise<string> {
  const faults: string[] = [];
  const lengths: number[] = [];
  for (const file of markdownFiles(root).filter(isRead)) {
    const page = await readPage(root, file);
    lengths.push(...page.lengths);
    faults.push(...page.faults);
  }
  for (const { file, where, text } of await schemaTexts(root)) {
    const read = readEnglish(text, "label");
    lengths.push(...read.lengths);
    faults.push(...read.faults.map((fault) => `${file}, ${where}: ${fault}`));
  }
  faults.push(...(await noteFaults(root)));
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return `${lengths.length} sentences, median ${median(lengths)} words, longest ${Math.max(...lengths)}`;
}

/** What is hard to read in the sources, where nobody counts words: comments of inner names, errors and the log. */
async function noteFaults(root: string): Promise<readonly string[]> {
  const faults = await Promise.all(
    sourceFiles(root).map(async (file) =>
      sourceTexts(file, await readFile(resolve(root, file), "utf8")).flatMap(({ line, text, isOpening = false }) => {
        const fragment = isOpening ? fragmentIn(text) : undefined;
        return [
          ...readEnglish(text, "note").faults,
          ...(fragment === undefined ? [] : [`no verb, begin with the thing: ${fragment}`]),
        ].map((fault) => `${file}:${line}: ${fault}`);
      }),
    ),
  );
  return faults.flat();
}

async function readPage(
  root: string,
  file: string,
): Promise<English & { readonly lines: number; readonly words: number }> {
  const text = await readFile(resolve(root, file), "utf8");
  const { blocks, cells } = proseOf(text);
  const prose = blocks.map((block) => readEnglish(block));
  const lengths = prose.flatMap((block) => block.lengths);
  const faults = [...prose, ...(isData(file) ? [] : cells.map((cell) => readEnglish(cell)))].flatMap((block) =>
    block.faults.map((fault) => `${file}: ${fault}`),
  );
  const lines = text.trimEnd().split("\n").length;
  const front = frontPages[file];
  if (front !== undefined && lines > front.maxLines) faults.push(`${file}: ${lines} lines, at most ${front.maxLines}`);
  if (front !== undefined && median(lengths) > MAX_MEDIAN)
    faults.push(`${file}: a median of ${median(lengths)} words a sentence, at most ${MAX_MEDIAN}`);
  return { lengths, faults, lines, words: text.split(/\s+/).filter(Boolean).length };
}

/** The median; for an even number of values the upper one of the middle. */
function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

// `node scripts/check/docs/check-english.ts [--figures] [FILE...]` prints the faults, or a table, of these pages alone.
if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: { figures: { type: "boolean", default: false } },
    allowPositionals: true,
  });
  const root = process.cwd();
  const files = positionals.length > 0 ? positionals : markdownFiles(root).filter(isRead);
  if (values.figures)
    console.log(
      "| page | lines | words | sentences | median words | longest | over 25 |\n|---|---|---|---|---|---|---|",
    );
  for (const file of files) {
    const { lengths, faults, lines, words } = await readPage(root, file);
    const over = lengths.filter((length) => length > 25).length;
    const share = `${((100 * over) / Math.max(1, lengths.length)).toFixed(0)} %`;
    if (values.figures)
      console.log(
        `| ${file} | ${lines} | ${words} | ${lengths.length} | ${median(lengths)} | ${Math.max(0, ...lengths)} | ${over} (${share}) |`,
      );
    else for (const fault of faults) console.log(fault);
    if (!values.figures && faults.length > 0) process.exitCode = 1;
  }
}
