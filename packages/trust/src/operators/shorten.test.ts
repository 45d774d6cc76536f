import { expect, test } from "vitest";
import { shorten } from "./shorten.ts";

const described = (length: number) => ({
  name: "t",
  description: "x".repeat(length),
  inputSchema: {},
  annotations: {},
});

test("lists that are too long lose definitions first, then entries, and say how many", () => {
  const many = Array.from({ length: 3 }, (_, n) => ({ tool: `t${n}`, definition: described(3_000_000) }));
  const { tools, more } = shorten({ tools: many });
  expect(tools.map(({ tool, definition }) => [tool, definition !== undefined])).toEqual([
    ["t0", true],
    ["t1", false],
    ["t2", false],
  ]);
  expect(more).toBe(0);
  const long = shorten({ tools: Array.from({ length: 5 }, () => ({ tool: "x".repeat(1_000_000) })) });
  expect([long.tools.length, long.more]).toEqual([4, 1]);
});
