/**
 * Scores the conversion of pages to markdown on a set of pages with ground truth: `npm run measure -- page-scores FOLDER
 * [--json FILE]`. The folder has `pages/ID.html.gz` and `truth/ID.json`, as read-set.ts says.
 */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { toMarkdown } from "@rockbot/page/markdown";
import { readSet } from "./read-set.ts";
import { type PageScore, scorePage } from "./score.ts";
import { summarise } from "./summarise.ts";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { json: { type: "string" } } });
const [folder] = positionals;
if (folder === undefined)
  throw new Error("Cannot measure: name the folder of the set, as in npm run measure -- page-scores FOLDER.");

const pages = await readSet(folder);
const scores: (PageScore & { readonly id: string; readonly pageType: string })[] = [];
let ms = 0;
for (const page of pages) {
  const before = process.cpuUsage();
  const { markdown } = toMarkdown(page.html, page.truth.url);
  const { user, system } = process.cpuUsage(before);
  ms += (user + system) / 1000;
  scores.push({ id: page.id, pageType: page.truth.pageType, ...scorePage(markdown, page) });
}
console.log(summarise(scores));
console.log(`\n${(ms / pages.length).toFixed(1)} ms of the processor a page`);
if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(scores, null, 1)}\n`);
