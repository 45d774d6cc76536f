import { expect, test } from "vitest";
import { operatorNotes } from "./operator-notes.ts";
import { readPolicy } from "./read-policy.ts";

const entry = (more: string): string =>
  `operators: [{ name: ops, tokens: [{ hash: "sha256:${"1".repeat(64)}" }], ${more} }]`;

test.each([
  [entry("may: [call]"), ["the operator ops may call tools, and speaksFor names no caller"]],
  [entry("speaksFor: [writer]"), ["the operator ops speaks for callers, and may does not name call"]],
  [entry("may: [cancel], sees: [results]"), ["the operator ops sees arguments or results, and may does not name read"]],
  ["operators: [{ name: ops, tokens: [] }]", ["the operator ops has no token: nobody is it"]],
  [
    "operators: [{ name: local, tokens: [] }]",
    ['the operator local has no token: who runs "rockbot up" is it, and nobody elsewhere'],
  ],
  [
    "keep: { tools: ['*'] }",
    ["arguments and results are kept, and no operator sees them: no sees names arguments or results"],
  ],
  [`${entry("may: [read, call], speaksFor: ['*'], sees: [arguments]")}\nkeep: { tools: ['*'] }`, []],
  [entry("may: []"), []],
])("what an entry cannot hold is told: %j", async (yaml, notes) => {
  expect(operatorNotes((await readPolicy(yaml, "of the test")).document)).toEqual(notes);
});
