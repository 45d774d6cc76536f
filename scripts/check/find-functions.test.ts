import { expect, test } from "vitest";
import { findFunctions } from "./find-functions.ts";

test("a function has the lines from its first to its last, without blank lines and comments", () => {
  const text = `
/** Counts. */
export function count(): number {
  // why

  /* and
     how */
  return 1; // at last
}`;
  expect(findFunctions("count.ts", text)).toEqual([{ name: "count", line: 3, lines: 3, reason: undefined }]);
});

test("lines of a template count, and lines of what looks like a comment in it", () => {
  const text = "const text = () => `\n// one\n\n/* two */\n`;";

  expect(findFunctions("text.ts", text)).toMatchObject([{ name: "text", lines: 4 }]);
});

test("the reason stands directly above, with the doc comment or alone, also above the call that a callback is an argument of", () => {
  const text = `
/** Lists. */
// Long because: it lists
function list() {}

// Long because: it is far away

const other = () => {};

class Several {
  // Long because it waits
  async wait() {}
}

// Long because: one after the other
test("a name", {
  timeout: 1,
}, async () => {});
`;
  expect(findFunctions("reasons.ts", text).map(({ name, reason }) => [name, reason])).toEqual([
    ["list", "it lists"],
    ["other", undefined],
    ["wait", "it waits"],
    ["(callback of test)", "one after the other"],
  ]);
});

test("what holds tests is no function of ours, and does not make the function around it longer", () => {
  const text = `
export function testBus(create) {
  describe.each(rows)("a suite", () => {
    test("one", async () => {
      await using bus = create();
    });
  });
}`;
  expect(findFunctions("suite.ts", text).map(({ name, lines }) => [name, lines])).toEqual([
    ["testBus", 4],
    ["(callback of test)", 3],
  ]);
});

test("a file that cannot be parsed is said", () => {
  expect(() => findFunctions("broken.ts", "function (")).toThrow("Cannot parse broken.ts");
});
