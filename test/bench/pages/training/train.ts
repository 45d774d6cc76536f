/**
 * Learns which blocks of a page are its content, and writes the model that the converter has: `npm run measure --
 * page-training FOLDER`. The folder is a set as read-set.ts says. First it prints how well a model does that has seen none of the
 * site's pages, in five folds split by site. `--no-model` ends after that. The same set gives the same model.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { keepBlocks, packForest, readForest } from "@rockbot/page/content";
import { readSet } from "../read-set.ts";
import { compareWords } from "../words.ts";
import { type BoostOptions, boost, type Samples } from "./boost.ts";
import { foldsBySite } from "./folds.ts";
import { prepare, type TrainingPage } from "./prepare.ts";
import { fitScale, temper } from "./temper.ts";

const FOLDS = 5;
const options: BoostOptions = {
  trees: 160,
  leaves: 32,
  rate: 0.09,
  rowShare: 0.7,
  columnShare: 0.35,
  leastRows: 60,
  ridge: 10,
  seed: 3,
};
/**
 * The share of the learnt logit that counts. The folds fit 0.7: on sites that it has not seen, a forest is surer than
 * it should be. On those that it has seen it is not, and real calls ask for both.
 */
const SURENESS = 0.8;
const MODEL = join(import.meta.dirname, "../../../../packages/page/src/content/trained/content-model.ts");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { "no-model": { type: "boolean", default: false } },
});
const [folder] = positionals;
if (folder === undefined)
  throw new Error("Cannot train: name the folder of the set, as in npm run measure -- page-training FOLDER.");

const measured = await readSet(folder);
const pages = measured.flatMap((page) => prepare(page) ?? []);
const folds = foldsBySite(
  pages.map(({ page }) => page.truth.url),
  FOLDS,
);
const unseen = new Map<TrainingPage, number[]>();
for (let fold = 0; fold < FOLDS; fold++) {
  const rate = readForest(learn(pages.filter((_, i) => folds[i] !== fold)));
  for (const page of pages.filter((_, i) => folds[i] === fold)) unseen.set(page, page.rows.map(rate));
}
report("unseen sites", unseen);
const fitted = fitScale(
  pages.flatMap((page) => unseen.get(page) ?? []),
  pages.flatMap(({ labels }) => labels),
  pages.flatMap(({ weights }) => weights),
);
console.log(`there the logits fit best at ${(SURENESS * fitted).toFixed(2)} of what is learnt`);

if (!values["no-model"]) {
  const packed = learn(pages);
  const rate = readForest(packed);
  report("shipped model, on what it learnt from", new Map(pages.map((page) => [page, page.rows.map(rate)])));
  await writeFile(
    MODEL,
    `// Written by \`npm run measure -- page-training\`.\n\n/** What is learnt of blocks: a packed forest, see forest.ts. */\nexport const contentModel: string =\n  "${packed}";\n`,
  );
  console.log(`${packed.length} characters in ${MODEL}`);
}

function learn(from: readonly TrainingPage[]): string {
  return packForest(temper(boost(samplesOf(from), options), SURENESS));
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

function f1Of({ view, blocks, truth }: TrainingPage, shares: readonly number[]): number {
  const kept = keepBlocks(view, shares);
  return compareWords(
    blocks.flatMap((words, i) => (kept[i] === true ? words : [])),
    truth,
  ).f1;
}

function report(name: string, shares: ReadonlyMap<TrainingPage, readonly number[]>): void {
  const scores = [...shares].map(([page, of]) => ({ type: page.page.truth.pageType, f1: f1Of(page, of) }));
  const mean = (some: typeof scores): string => (some.reduce((sum, { f1 }) => sum + f1, 0) / some.length).toFixed(3);
  const types = [...new Set(scores.map(({ type }) => type))].sort();
  console.log(
    `${name}: word F1 ${mean(scores)} (${types.map((type) => `${type} ${mean(scores.filter((score) => score.type === type))}`).join(", ")})`,
  );
}
