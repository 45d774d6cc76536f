import { expect, test } from "vitest";
import { readPolicy } from "../document/read-policy.ts";
import { createPolicy } from "../policy.ts";
import type { Facet } from "./facet.ts";
import { facets } from "./index.ts";

const named = Object.entries<Facet>(facets);

/** The policy that says of the caller `researcher` what the facet's example does, and that everybody may use all tools. */
function policyWith(name: string, { place, example }: Facet) {
  const said = { [name]: example };
  const own = { entries: said, limits: { limits: said }, file: {} }[place];
  const operators = [{ name: "ops", tokens: [], may: ["decide"] }];
  const document = {
    everyone: { allow: ["*"] },
    callers: { researcher: own },
    operators,
    ...(place === "file" ? said : {}),
  };
  return readPolicy(JSON.stringify(document), "test.yaml").then(createPolicy);
}

test.each(named)("a policy may say %s, and an explanation tells people of it", async (name, facet) => {
  const policy = await policyWith(name, facet);
  const without = createPolicy(
    await readPolicy("{ everyone: { allow: ['*'] }, callers: { researcher: {} } }", "test.yaml"),
  );
  const use = { caller: "researcher", tool: "web_search" };
  const [, , ...said] = policy.explain(use);

  expect(said).not.toEqual(without.explain(use).slice(2));
});

test("a value that no facet has is a fault, with its line", async () => {
  for (const [name, facet] of named)
    await expect(policyWith(name, { ...facet, example: false })).rejects.toThrow(new RegExp(`${name}, line 1`));
});

test("no two facets have a function of one name", async () => {
  const said = {
    document: { everyone: {}, queues: {}, approve: [] },
    callers: new Map(),
    argumentRules: new Map(),
    at: String,
  };
  const names = named.flatMap(([, facet]) => Object.keys(facet.read(said as never)));

  expect(new Set(names).size).toBe(names.length);
});
