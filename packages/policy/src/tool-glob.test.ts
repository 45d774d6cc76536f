import fc from "fast-check";
import { expect, test } from "vitest";
import { globCovers, globsMeet, matchesGlob } from "./tool-glob.ts";

test.each([
  ["web_search", "web_search", true],
  ["web_search", "web_searches", false],
  ["web_*", "web_search", true],
  ["web_*", "web_", true],
  ["web_*", "my_web_search", false],
  ["*", "anything", true],
  ["*_read", "file_read", true],
  ["a*a", "a", false],
  ["a*b*c", "a-b-b-c", true],
  ["a*b*c", "a-c-b", false],
])("%s names %s: %s", (glob, tool, matches) => {
  expect(matchesGlob(glob, tool)).toBe(matches);
});

test("is what a regular expression says, for any pattern and name", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "_"), maxLength: 8 });
  const globs = fc.string({ unit: fc.constantFrom("a", "b", "_", "*"), maxLength: 8 });
  fc.assert(
    fc.property(globs, letters, (glob, tool) => {
      expect(matchesGlob(glob, tool)).toBe(new RegExp(`^${glob.replaceAll("*", ".*")}$`).test(tool));
    }),
    { numRuns: 2_000 },
  );
});

test("two patterns meet if some name fits both", () => {
  const any = fc.array(fc.constantFrom("a", "b", "_", "*"), { maxLength: 5 }).map((parts) => parts.join(""));
  const name = fc.array(fc.constantFrom("a", "b", "_"), { maxLength: 6 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(any, any, name, (a, b, tool) => !(matchesGlob(a, tool) && matchesGlob(b, tool)) || globsMeet(a, b)),
  );
  fc.assert(
    fc.property(
      any,
      any,
      name,
      (outer, inner, tool) => !(globCovers(outer, inner) && matchesGlob(inner, tool)) || matchesGlob(outer, tool),
    ),
  );
  expect([
    globsMeet("web_*", "*_browse"),
    globsMeet("web_*", "file_*"),
    globsMeet("a*b", "a"),
    globsMeet("*", ""),
  ]).toEqual([true, false, false, true]);
  expect([globCovers("web_*", "web_browse_*"), globCovers("web_*", "*"), globCovers("*", "*")]).toEqual([
    true,
    false,
    true,
  ]);
});
