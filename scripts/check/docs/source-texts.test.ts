import { expect, test } from "vitest";
import { fragmentIn, readEnglish } from "./read-english.ts";
import { sourceTexts } from "./source-texts.ts";

const SOURCE = `
/** Counts, and throws. @returns the count */
function inner(log: Logger, name: string) {
  /** What is left. */
  const left = "not a text for people";
  log.warn({ left }, "could not count");
  throw new CountError(\`Cannot count "\${name}": expected a list\`, { cause: left });
}
`;

test("doc comments of inner names are read by their blocks, and what errors and the log say", () => {
  expect(sourceTexts("a.ts", SOURCE)).toEqual([
    { line: 2, text: "Counts, and throws.", isOpening: true },
    { line: 2, text: "the count" },
    { line: 4, text: "What is left.", isOpening: true },
    { line: 7, text: 'Cannot count "`…`": expected a list' },
    { line: 6, text: "could not count" },
  ]);
});

test("a note in the sources may be long or a label, and may not begin beside the thing or hide the actor", () => {
  const long = `${Array.from({ length: 40 }, () => "word").join(" ")}.`;
  expect(readEnglish(`What is left. ${long}`, "note").faults).toEqual([]);
  for (const text of ["Whether it runs.", "Of the last call.", "It ends as it was told.", "As whom it calls."])
    expect(readEnglish(text, "note").faults, text).toHaveLength(1);
});

test("a comment that begins with a preposition and has no verb names nothing; a label, or a sentence, does", () => {
  for (const text of ["In milliseconds.", "By `id`. The calls stay.", "For one attempt", "As the model gave it."])
    expect(fragmentIn(text), text).toBeDefined();
  for (const text of [
    "The timeout, in milliseconds.",
    "On a tie the first one counts.",
    "In `rows` each part is a list.",
  ])
    expect(fragmentIn(text), text).toBeUndefined();
});
