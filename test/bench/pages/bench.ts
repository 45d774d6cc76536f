/**
 * Sets the conversion of pages to markdown beside other ways of making it: `npm run measure -- pages [FOLDER] [--out
 * FOLDER] [options]`. All contenders in one run, each in its process: a page goes through all of them, one after the
 * other, before the next, so that what else the machine does falls on all alike. Measures the corpus beside this file
 * and, if it is given one, another folder of the same form.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installApart } from "../../../scripts/apart/install-apart.ts";
import type { PageAnswer } from "./contender-main.ts";
import { contenders } from "./contenders.ts";
import { type MeasuredPage, readSet } from "./read-set.ts";
import { type ContenderResult, type SetResult, toMarkdown } from "./report.ts";
import { scorePage } from "./score.ts";
import { type RunningContender, startContender } from "./start-contender.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "2" },
    contenders: { type: "string" },
    out: { type: "string" },
    name: { type: "string" },
  },
});
/** After so many pages, code is about as fast as it gets. */
const WARM_PAGES = 10;
const rounds = Number(values.rounds);
const names = values.contenders?.split(",") ?? Object.keys(contenders);
if (!Number.isInteger(rounds) || rounds < 1)
  throw new Error(`Cannot measure: --rounds is a whole number from 1; it is ${values.rounds}.`);
for (const name of names)
  if (!(name in contenders))
    throw new Error(`Cannot measure: "${name}" is none of ${Object.keys(contenders).join(", ")}.`);

const versions = await installApart(import.meta.dirname);
const results = [await measureSet("the corpus of the repository", join(import.meta.dirname, "corpus"))];
const [outside] = positionals;
if (outside !== undefined) results.push(await measureSet(values.name ?? "the pages of the folder", outside));
const report = toMarkdown({ results, versions, rounds });
process.stdout.write(report);
if (values.out !== undefined) await keep(join(values.out, "web-pages.md"), report);

async function measureSet(name: string, folder: string): Promise<SetResult> {
  const pages = await readSet(folder);
  await using stack = new AsyncDisposableStack();
  const running: (readonly [string, RunningContender])[] = [];
  for (const contender of names)
    running.push([contender, stack.use(await startContender(contenders[contender]?.file ?? ""))]);
  const answers = new Map(names.map((contender) => [contender, pages.map((): PageAnswer[] => [])]));
  for (let round = 0; round <= rounds; round++) {
    process.stderr.write(`${name}: round ${round} of ${rounds}\n`);
    // The first round warms up.
    for (const [index, page] of pages.slice(0, round === 0 ? WARM_PAGES : undefined).entries()) {
      // Each begins as often as the others.
      const first = (round + index) % running.length;
      for (const [contender, process] of [...running.slice(first), ...running.slice(0, first)]) {
        const answer = await process.convert({ html: page.html, url: page.truth.url });
        if (round > 0) answers.get(contender)?.[index]?.push(answer);
      }
    }
  }
  return {
    name,
    pages: pages.length,
    contenders: names.map((contender) => resultOf(contender, pages, answers.get(contender) ?? [])),
  };
}

function resultOf(
  name: string,
  pages: readonly MeasuredPage[],
  answers: readonly (readonly PageAnswer[])[],
): ContenderResult {
  const scored = pages.map((page, index) => {
    const own = answers[index] ?? [];
    const cpu = own.map(({ cpuMs }) => cpuMs).sort((a, b) => a - b);
    return {
      pageType: page.truth.pageType,
      cpuMs: cpu[Math.floor(cpu.length / 2)] ?? 0,
      isEmpty: (own[0]?.markdown ?? "").trim() === "",
      ...scorePage(own[0]?.markdown ?? "", page),
    };
  });
  return { name, scores: scored, peakMb: Math.max(...answers.flat().map(({ peakMb }) => peakMb)) };
}

/** Replaces the measured part of the page, and leaves what other commands have written behind it. */
async function keep(file: string, text: string): Promise<void> {
  const before = await readFile(file, "utf8").catch(() => "");
  const other = before.indexOf("\n## Many browses at once");
  await writeFile(file, text + (other < 0 ? "" : before.slice(other)));
}
