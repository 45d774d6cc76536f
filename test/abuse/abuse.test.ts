import { expect, test } from "vitest";
import { brokenBounds } from "./bounds.ts";
import { runFloods } from "./run-floods.ts";

// `npm run measure -- flood` runs all kinds of messages, for minutes, and looks at the times too.
test("one agent that floods a system with calls and cancels fails no call of another, and leaves little behind", {
  timeout: 400_000,
}, async () => {
  const rows = await runFloods({
    floods: ["cancel", "refresh", "invoke, nobody to answer", "invoke, a slow tool"],
    seconds: 1.5,
    callsPerSecond: 10,
    isTimed: false,
  });
  expect(rows).toHaveLength(4);
  for (const { flood, publishedPerSecond } of rows) expect(publishedPerSecond, flood).toBeGreaterThan(20);
  expect(rows.flatMap((row) => brokenBounds(row, { isTimed: false }))).toEqual([]);
});
