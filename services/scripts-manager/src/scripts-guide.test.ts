import { loadConfig } from "@rockbot/process/config";
import { expect, test } from "vitest";
import { configSchema } from "./generated/config.ts";
import { allowedPackages, scriptsGuide } from "./scripts-guide.ts";

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

test("the guide has a script called again without a look only where scripts have neither tools nor sessions", () => {
  const guideWith = (parts: { readonly hasTools?: boolean; readonly hasSessions?: boolean }) =>
    scriptsGuide(loadConfig(configSchema, { env: {} }), {
      ...{ hasPackages: false, hasFiles: false, hasTools: false, hasSessions: false, python: undefined },
      ...parts,
    }).document;
  expect(guideWith({})).toContain("call again: a script has no effects outside");
  for (const parts of [{ hasTools: true }, { hasSessions: true }])
    expect(guideWith(parts)).toMatch(/outcome_unknown.*look at what is done/);
});
