import { expect, test } from "vitest";
import { readEnglish } from "./read-english.ts";
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
    { line: 2, text: "Counts, and throws." },
    { line: 2, text: "the count" },
    { line: 4, text: "What is left." },
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
