import { expect, test } from "vitest";
import { SessionRights } from "../calls/session-rights.ts";
import { testDefinition } from "../test-definitions.ts";
import { keptGrant } from "./grant.ts";

const effect = { name: "effect", isDangerous: false, isLocal: false };

test.each(["too long", "{}", '[{"kind":"agent"}]', '[{"kind":"agent","name":"a","maker":"b","tools":"*"}]'])(
  "a grant that cannot be read allows nothing: %s",
  (grant) => {
    const rights = new SessionRights({ definition: testDefinition("cook"), grant, policy: undefined });
    expect(rights.refusal(effect)).toContain("a grant that cannot be read");
    expect(keptGrant(rights.grant(), undefined)).toBe(rights.grant());
  },
);

test("a run keeps to each bound of its definition, of the grant of that, and of its own, and hands on all of them once", () => {
  const of = (name: string, tools: readonly string[]) =>
    new SessionRights({ definition: testDefinition(name, { tools }), policy: undefined }).grant();
  const grant = of("outer", ["effect", "other"]);
  const rights = new SessionRights({
    definition: testDefinition("cook", { grant: of("maker", ["effect", "third"]) }),
    grant,
    policy: undefined,
  });
  expect(["effect", "other", "third"].map((name) => rights.refusal({ ...effect, name }))).toEqual([
    undefined,
    'the agent "maker" does not have this tool',
    'the agent "outer" does not have this tool',
  ]);
  const names = (JSON.parse(rights.grant(grant)) as { readonly name: string }[]).map(({ name }) => name);
  expect(names).toEqual(["cook", "maker", "outer"]);
});
