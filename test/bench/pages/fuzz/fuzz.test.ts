import { join } from "node:path";
import { decodeText } from "@rockbot/page";
import { toMarkdown } from "@rockbot/page/markdown";
import { expect, test } from "vitest";
import { seededRandom } from "../../../broker/seeded-random.ts";
import { readSet } from "../read-set.ts";
import { Dice } from "./dice.ts";
import { faultsOf, unseenIn } from "./faults-of.ts";
import { hostileElement } from "./hostile-text.ts";
import { mutant } from "./mutate.ts";

const SEED = Number(process.env["ROCKBOT_TEST_SEED"] ?? 20_261_126);

test("broken and hostile pages become markdown without markup and without signs that nobody sees", async () => {
  const pages = (await readSet(join(import.meta.dirname, "../corpus"))).map(({ html }) => html);
  const dice = new Dice(seededRandom(SEED));
  const faulty: string[] = [];
  let converted = 0;
  for (let index = 0; index < 200; index++) {
    const { bytes, contentType, done } = mutant(pages, dice);
    const html = decodeText(bytes, contentType);
    if (html === undefined) continue;
    const { title, markdown, frontMatter = "" } = toMarkdown(html, "https://example.com/a/page");
    for (const fault of [...faultsOf(markdown), ...faultsOf(frontMatter), ...unseenIn(title ?? "")])
      faulty.push(`${index} of seed ${SEED} (${done.join(", ")}): ${fault}`);
    if (markdown !== "") converted++;
  }
  expect(faulty).toEqual([]);
  expect(converted).toBeGreaterThan(150);
});

test("texts that look like markup stay texts, wherever they stand", () => {
  const dice = new Dice(seededRandom(SEED));
  const faulty: string[] = [];
  for (let index = 0; index < 800; index++) {
    const html = Array.from({ length: 1 + dice.below(6) }, () => hostileElement(dice)).join("");
    const faults = faultsOf(toMarkdown(html, "https://example.com/a/page").markdown);
    if (faults.length > 0) faulty.push(`${index} of seed ${SEED}: ${faults.join(", ")} in ${html}`);
  }
  expect(faulty).toEqual([]);
});

test.each([
  ["<script>a()</script>", "<script>"],
  ["text <img src=x onerror=a()>", "onerror"],
  ["[a](javascript:b())", "javascript:"],
  ["![a](data:image/svg+xml,x)", "data:"],
  ["a\u202eb", "U+202e"],
  ["a\u001bb", "U+1b"],
  ["a\ud800b", "half"],
])("the fuzzer sees what is wrong with %j", (markdown, fault) => {
  expect(faultsOf(markdown).join()).toContain(fault);
});

test("the fuzzer finds nothing in markdown that only shows markup", () => {
  expect(faultsOf("`<script>` and \\<script>\n\n```\n<script>\n```\n\n[a](https://example.com/)")).toEqual([]);
});
