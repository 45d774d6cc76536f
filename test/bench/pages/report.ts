import { cpus, loadavg } from "node:os";
import { contenders, REFERENCE } from "./contenders.ts";
import type { PageScore } from "./score.ts";
import { structureKinds } from "./structure.ts";

/** What became of one page with one contender. */
export interface ScoredPage extends PageScore {
  readonly pageType: string;
  readonly cpuMs: number;
  readonly isEmpty: boolean;
}

export interface ContenderResult {
  readonly name: string;
  readonly scores: readonly ScoredPage[];
  readonly peakMb: number;
}

export interface SetResult {
  readonly name: string;
  readonly pages: number;
  readonly contenders: readonly ContenderResult[];
}

export interface Report {
  readonly results: readonly SetResult[];
  readonly versions: Readonly<Record<string, string>>;
  readonly rounds: number;
}

const pageTypes = ["article", "documentation", "service", "forum", "collection", "listing", "product"];

/** The figures as a page of docs/measured. */
export function toMarkdown({ results, versions, rounds }: Report): string {
  return `<!-- Written by \`npm run measure -- pages\`. Do not edit. -->
# Web pages as markdown

Measured by \`npm run measure -- pages\` on ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), Node ${process.versions.node}, at a load of ${(loadavg()[2] ?? 0).toFixed(1)}.
Every contender has a process, and each page goes through all of them before the next page. Rounds that count, after some pages that warm up: ${rounds}.

${Object.entries(contenders)
  .map(([name, { about }]) => `- **${name}**: ${about}`)
  .join("\n")}

Firecrawl's extractor is missing: its native part is in no registry, and its licence forbids a copy here.
The libraries: ${Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(", ")}.

- **Word F1** compares bags of words, without case, of the text that the markdown shows with the text that a reader wants. Front matter does not count.
- **Leak** is the share of known boilerplate that came through, **bloat** the characters out for each of the truth, as a median.
- **Kept** counts headings, code, list items, table rows and absolute links of the content that are such in the markdown. In the corpus, code has to keep its lines and its language.
- **CPU** is of all threads of the process. The ratio is the median over pages of the ratio to ${REFERENCE} on the same page.
- A contender that fails has an empty page.

${results.map(setSection).join("\n")}`;
}

function setSection({ name, pages, contenders: measured }: SetResult): string {
  const types = pageTypes.filter((type) => measured[0]?.scores.some(({ pageType }) => pageType === type));
  const countOf = (type: string): number => measured[0]?.scores.filter(({ pageType }) => pageType === type).length ?? 0;
  const reference = measured.find((contender) => contender.name === REFERENCE);
  return `## ${name.charAt(0).toUpperCase()}${name.slice(1)}: ${pages} pages

${table(
  ["contender", "word F1", "precision", "recall", "leak", "bloat", "empty", "CPU ms a page", "p95", "ratio", "peak MB"],
  measured.map((contender) => [contender.name, ...qualityCells(contender), ...costCells(contender, reference)]),
)}
${withContentOf(measured)}
Word F1 by type of page, with the number of pages:

${table(
  ["contender", ...types.map((type) => `${type} (${countOf(type)})`)],
  measured.map(({ name: contender, scores }) => [
    contender,
    ...types.map((type) => mean(scores.filter(({ pageType }) => pageType === type).map(({ f1 }) => f1))),
  ]),
)}

Structure kept, in %, with the number that the content has:

${table(
  [
    "contender",
    ...structureKinds.map(
      (kind) => `${kind} (${sum(measured[0]?.scores.map(({ structure }) => structure[kind].there) ?? [])})`,
    ),
  ],
  measured.map(({ name: contender, scores }) => [contender, ...structureKinds.map((kind) => keptShare(scores, kind))]),
)}
`;
}

/** The scores of the pages that have content, where some have none: what a contender finds there counts 0. */
function withContentOf(measured: readonly ContenderResult[]): string {
  const none = measured[0]?.scores.filter(({ words }) => words === 0).length ?? 0;
  if (none === 0) return "";
  const rows = measured.map(({ name, scores }) => {
    const some = scores.filter(({ words }) => words > 0);
    return [
      name,
      mean(some.map(({ f1 }) => f1)),
      mean(some.map(({ precision }) => precision)),
      mean(some.map(({ recall }) => recall)),
    ];
  });
  return `
By its truth, ${none} of these pages ${none === 1 ? "has" : "have"} no content, so that all text that a contender finds there counts 0. Without them:

${table(["contender", "word F1", "precision", "recall"], rows)}
`;
}

function qualityCells({ scores }: ContenderResult): string[] {
  const unwanted = sum(scores.map((score) => score.unwanted));
  return [
    mean(scores.map(({ f1 }) => f1)),
    mean(scores.map(({ precision }) => precision)),
    mean(scores.map(({ recall }) => recall)),
    unwanted === 0 ? "-" : (sum(scores.map(({ leaked }) => leaked)) / unwanted).toFixed(3),
    quantile(
      scores.map(({ bloat }) => bloat),
      0.5,
    ).toFixed(2),
    String(scores.filter(({ isEmpty }) => isEmpty).length),
  ];
}

function costCells({ scores, peakMb }: ContenderResult, reference: ContenderResult | undefined): string[] {
  const cpu = scores.map(({ cpuMs }) => cpuMs);
  const ratios = scores.map(
    ({ cpuMs }, index) => cpuMs / Math.max(0.001, reference?.scores[index]?.cpuMs ?? Number.NaN),
  );
  return [
    (sum(cpu) / cpu.length).toFixed(1),
    quantile(cpu, 0.95).toFixed(0),
    reference === undefined ? "-" : quantile(ratios, 0.5).toFixed(2),
    peakMb.toFixed(0),
  ];
}

function keptShare(scores: readonly ScoredPage[], kind: (typeof structureKinds)[number]): string {
  const there = sum(scores.map(({ structure }) => structure[kind].there));
  return there === 0 ? "-" : ((100 * sum(scores.map(({ structure }) => structure[kind].kept))) / there).toFixed(1);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const mean = (numbers: readonly number[]): string => (sum(numbers) / Math.max(1, numbers.length)).toFixed(3);

function quantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map((_, index) => (index === 0 ? "---" : "---:")), ...rows]
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n");
}
