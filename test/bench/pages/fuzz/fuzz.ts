/**
 * Converts mutated pages of the corpus to markdown, and says what goes wrong: `npm run measure -- page-fuzz [--pages 5000]
 * [--seed N] [--keep FOLDER]`. A fault is a failure that is no refusal of a page that is too complex, a page that takes
 * too long, and markdown with what faults-of.ts looks for.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { decodeText } from "@rockbot/page";
import { seededRandom } from "../../../broker/seeded-random.ts";
import { readSet } from "../read-set.ts";
import { startContender } from "../start-contender.ts";
import { Dice } from "./dice.ts";
import { faultsOf } from "./faults-of.ts";
import { mutant } from "./mutate.ts";

/** What the converter of web_browse gives a page. */
const LIMIT_MS = 5_000;

const { values } = parseArgs({
  options: {
    pages: { type: "string", default: "5000" },
    seed: { type: "string", default: "1" },
    keep: { type: "string" },
  },
});
const pages = (await readSet(join(import.meta.dirname, "../corpus"))).map(({ html }) => html);
const random = seededRandom(Number(values.seed));
await using converter = await startContender("rockbot.ts");

const count = Number(values.pages);
let refused = 0;
let faulty = 0;
let slowestMs = 0;
let cpuMs = 0;
let peakMb = 0;
for (let index = 0; index < count; index++) {
  const { bytes, contentType, done } = mutant(pages, new Dice(random));
  const html = decodeText(bytes, contentType);
  if (html === undefined) continue; // web_browse says that it is no text
  const answer = await converter.convert({ html, url: "https://example.com/a/page" });
  const faults = faultsOf(answer.markdown);
  if (answer.failure?.startsWith("PageTooComplexError")) refused++;
  else if (answer.failure !== undefined) faults.push(answer.failure);
  else if (answer.cpuMs > LIMIT_MS) faults.push(`${answer.cpuMs.toFixed(0)} ms of the processor`);
  slowestMs = Math.max(slowestMs, answer.cpuMs);
  cpuMs += answer.cpuMs;
  peakMb = Math.max(peakMb, answer.peakMb);
  if (faults.length === 0) continue;
  faulty++;
  process.stdout.write(`page ${index} (${done.join(", ")}): ${faults.slice(0, 3).join("; ")}\n`);
  if (values.keep === undefined) continue;
  await mkdir(values.keep, { recursive: true });
  await writeFile(join(values.keep, `${index}.html`), html);
}
process.stdout.write(
  `${count} mutated pages, seed ${values.seed}: ${faulty} with faults, ${refused} refused as too complex; ` +
    `${(cpuMs / count).toFixed(1)} ms of the processor a page, at most ${slowestMs.toFixed(0)}; at most ${peakMb.toFixed(0)} MB\n`,
);
if (faulty > 0) process.exitCode = 1;
