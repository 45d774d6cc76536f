import { expect, test } from "vitest";
import { proseOf } from "./markdown.ts";
import { readEnglish } from "./read-english.ts";

const words = (count: number): string => `${Array.from({ length: count }, () => "word").join(" ")}.`;

test("a sentence of more than 25 words is a fault, and its neighbours are none", () => {
  const { lengths, faults } = readEnglish(`${words(3)} W${words(26).slice(1)} W${words(25).slice(1)}`);
  expect(lengths).toEqual([3, 26, 25]);
  expect(faults).toHaveLength(1);
});

test("code counts as one word, however much it holds, and may begin a sentence", () => {
  expect(readEnglish("Run it. `rockbot up --port 1` starts it.").lengths).toEqual([2, 3]);
});

test.each([
  "The caller is told so.",
  "A list is had from it.",
  "Who waits holds a handler.",
  "What is left is parked.",
  "It ends for whoever waits.",
  "Whether it runs twice.",
  "Of several, the last one counts.",
])("a form that hides the actor is a fault: %s", (sentence) => {
  expect(readEnglish(sentence).faults).toHaveLength(1);
});

test.each([
  "What happens to a call?",
  "Who may do what",
  "A caller that waits holds a handler.",
  "It tells the caller what is left.",
])("questions, titles and clauses with a noun are none: %s", (sentence) => {
  expect(readEnglish(sentence).faults).toEqual([]);
});

test("prose is paragraphs and list items, without headings and code; cells stand apart", () => {
  const page =
    "# Title\n\nOne *two* [three](a.md).\n\n- four `five`\n  - six\n\n> seven\n\n```sh\nnot this\n```\n\n| head |\n|---|\n| eight |\n";
  expect(proseOf(page)).toEqual({ blocks: ["One two three.", "four `five`", "six", "seven"], cells: ["eight"] });
});

test("a description of a field may be a label, and may not begin beside the thing", () => {
  expect(readEnglish("What to search for.", "label").faults).toEqual([]);
  expect(readEnglish("Whether it is used.", "label").faults).toHaveLength(1);
});
