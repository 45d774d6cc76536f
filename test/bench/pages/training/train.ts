/**
 * Learns which blocks of a page are its content, and writes the model that the converter has: `npm run train:pages -- FOLDER`.
 * The folder is a set as read-set.ts says. First it prints how well a model does that has seen none of the site's pages, in five folds split by site.
 * `--no-model` ends after that. The same set gives the same model.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { keepBlocks, packForest, readForest } from "@rockbot/page/content";
import { type MeasuredPage, readSet } from "../read-set.ts";
import { compareWords } from "../words.ts";
import { type BoostOptions, boost, type Samples } from "./boost.ts";
import { foldsBySite } from "./folds.ts";
import { prepare, type TrainingPage } from "./prepare.ts";

const FOLDS = 5;
const options: BoostOptions = { trees: 160, leaves: 32, rate: 0.09, rowShare: 0.7, columnShare: 0.35, leastRows: 60, ridge: 10, seed: 3 };
const MODEL = join(import.meta.dirname, "../../../../packages/page/src/content/generated/content-model.ts");

const { values, positionals } = parseArgs({ allowPositionals: true, options: { "no-model": { type: "boolean", default: false } } });
const [folder] = positionals;
if (folder === undefined) throw new Error("Cannot train: name the folder of the set, as in npm run train:pages -- FOLDER.");

const measured = await readSet(folder);
const pages = measured.flatMap((page) => prepare(page) ?? []);
const folds = foldsBySite(
  pages.map(({ page }) => page.truth.url),
  FOLDS,
);
const f1s = new Map<TrainingPage, number>();
for (let fold = 0; fold < FOLDS; fold++) {
  const rate = readForest(packForest(boost(samplesOf(pages.filter((_, i) => folds[i] !== fold)), options)));
  for (const page of pages.filter((_, i) => folds[i] === fold)) f1s.set(page, f1Of(page, rate));
}
report("unseen sites", pages, f1s);

if (!values["no-model"]) {
  const packed = packForest(boost(samplesOf(pages), options));
  const rate = readForest(packed);
  report("shipped model, on what it learnt from", pages, new Map(pages.map((page) => [page, f1Of(page, rate)])));
  await writeFile(
    MODEL,
    `// Written by \`npm run train:pages\`.\n\n/** What is learnt of blocks: a packed forest, see forest.ts. */\nexport const contentModel: string =\n  "${packed}";\n`,
  );
  console.log(`${packed.length} characters in ${MODEL}`);
}

function samplesOf(of: readonly TrainingPage[]): Samples {
  return {
    rows: of.flatMap(({ rows }) => rows),
    labels: Float64Array.from(of.flatMap(({ labels }) => labels)),
    weights: normalised(of.flatMap(({ weights }) => weights)),
  };
}

function normalised(weights: readonly number[]): Float64Array {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return Float64Array.from(weights, (weight) => (weight * weights.length) / sum);
}

function f1Of({ view, rows, blocks, truth }: TrainingPage, rate: (row: Float32Array) => number): number {
  const kept = keepBlocks(view, rows.map(rate));
  return compareWords(
    blocks.flatMap((words, i) => (kept[i] === true ? words : [])),
    truth,
  ).f1;
}

function report(name: string, of: readonly TrainingPage[], scores: ReadonlyMap<TrainingPage, number>): void {
  const typeOf = ({ truth }: MeasuredPage): string => truth.pageType;
  const types = [...new Set(of.map(({ page }) => typeOf(page)))].sort();
  const mean = (some: readonly TrainingPage[]): string => (some.reduce((sum, page) => sum + (scores.get(page) ?? 0), 0) / some.length).toFixed(3);
  console.log(`${name}: word F1 ${mean(of)} (${types.map((type) => `${type} ${mean(of.filter(({ page }) => typeOf(page) === type))}`).join(", ")})`);
}
