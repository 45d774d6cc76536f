import { expect, test } from "vitest";
import { allowedPackages } from "./scripts-guide.ts";

test.each<[string, string[], string[], string]>([
  ["all", ["*"], [], "All are allowed."],
  ["all but some", ["*", "numpy"], ["torch"], "All are allowed but torch."],
  ["some", ["numpy", "pandas"], [], "Allowed are only numpy, pandas."],
  [
    "some, and some of them not",
    ["numpy", "pandas"],
    ["pandas"],
    "Allowed are only numpy, pandas, but pandas is refused.",
  ],
  ["none", [], [], "None is allowed here."],
])("the guide says which packages scripts may use: %s", (_, pipAllow, pipDeny, words) => {
  expect(allowedPackages({ pipAllow, pipDeny })).toBe(words);
});

test("the guide names a hundred packages, and counts the rest", () => {
  const pipAllow = Array.from({ length: 103 }, (_, number) => `p${number}`);
  expect(allowedPackages({ pipAllow, pipDeny: [] })).toMatch(/^Allowed are only p0, .*, p99 and 3 more\.$/);
});
