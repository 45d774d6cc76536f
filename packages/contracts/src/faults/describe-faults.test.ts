import { expect, test } from "vitest";
import { tools } from "../generated/tools.ts";
import { describeFaults, faultsText, nearestName } from "./describe-faults.ts";

function faultsOf(input: unknown, options = {}): string {
  const { validateInput, inputSchema } = tools.webSearch;
  expect(validateInput(input)).toBe(false);
  return faultsText(describeFaults(validateInput, inputSchema, input, options));
}

test.each([
  [{}, "query: is required and missing"],
  [{ query: 5 }, "query: expected string, got the number 5"],
  [{ query: "" }, 'query: expected text that is not empty, got the text ""'],
  [{ query: "x", count: 21 }, "count: expected at most 20, got the number 21"],
  [{ query: "x", count: 1.5 }, "count: expected integer, got the number 1.5"],
  [{ query: "x", cuont: 5 }, 'unknown property "cuont": did you mean "count"?'],
  [
    { query: "x", somethingElse: 5 },
    'unknown property "somethingElse": known: query, count, country, freshness, safesearch',
  ],
  [[], "expected object, got an array"],
  [
    { qury: "x", count: "5" },
    'query: is required and missing; unknown property "qury": did you mean "query"?; count: expected integer, got the text "5"',
  ],
])("%j: %s", (input, words) => {
  expect(faultsOf(input)).toBe(words);
});

test("keeps values out of the words where they may be secrets, and long ones short", () => {
  expect(faultsOf({ query: 12345 }, { quoteValues: false })).toBe("query: expected string");
  expect(faultsOf({ query: "x".repeat(1000) }).length).toBeLessThan(150);
});

test("offers a name only if it is near", () => {
  expect(nearestName("web_serch", ["web_search", "web_browse"])).toBe("web_search");
  expect(nearestName("completely_different", ["web_search", "web_browse"])).toBeUndefined();
  expect(nearestName("x".repeat(100_000), ["web_search"])).toBeUndefined();
});
