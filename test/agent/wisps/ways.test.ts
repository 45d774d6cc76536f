import { expect, test } from "vitest";
import { doInEachWay, PAGES } from "./ways.ts";

test("a wisp does the same work with as many calls, two questions to the model, and the fewest tokens", async () => {
  const done = await doInEachWay(0);
  expect(done.map(({ calls, questions }) => [calls, questions])).toEqual([
    [PAGES + 2, PAGES + 3],
    [PAGES + 2, 4],
    [PAGES + 2, 4],
    [PAGES + 2, 2],
  ]);
  const tokens = done.map(({ inputTokens, outputTokens }) => inputTokens + outputTokens);
  expect(tokens.toSorted((a, b) => a - b)[0]).toBe(tokens[3]);
});
