import { expect, test } from "vitest";
import { busRights } from "./bus-rights.ts";
import { readPolicy } from "./document/read-policy.ts";
import { forScript } from "./for-script.ts";
import { peersOf } from "./peers.ts";
import { createPolicy } from "./policy.ts";

const policyOf = async (yaml: string) => createPolicy(await readPolicy(yaml, "of the test"));

test("a script may call what stands on its caller's own list, else on everyone's, of what the caller may use", async () => {
  const policy = await policyOf(`
everyone: { allow: ["*"], scripts: { allow: [web_browse, notes_save] } }
callers:
  own: { scripts: { allow: [web_search] } }
  none: { scripts: {} }
  narrow: { allow: ["web_*"] }
`);
  const may = (caller: string) =>
    ["web_browse", "web_search", "notes_save"].map((tool) => forScript(policy, { caller, tool }, undefined).isAllowed);

  expect([may("anybody"), may("own"), may("none"), may("narrow")]).toEqual([
    [true, false, true],
    [false, true, false],
    [false, false, false],
    [true, false, false],
  ]);
  expect((await policyOf("everyone: { allow: ['*'] }")).scriptToolsOf("anybody")).toEqual([]);
});

test("a script keeps to the bounds of its session, and of who has made that", async () => {
  const policy = await policyOf(`
everyone: { allow: ["*"], scripts: { allow: [web_browse, web_search] } }
callers: { maker: { allow: [web_browse], rules: [{ tools: [web_browse], arguments: { required: [url] } }] } }
`);
  const bound = (tools: readonly string[], maker = "maker") =>
    JSON.stringify([{ kind: "agent", name: "robot", maker, tools }]);
  const of = (tool: string, grant: string) => forScript(policy, { caller: "anybody", tool }, grant);

  expect(
    of("web_browse", bound(["web_*"])).argumentRules.map(({ validate }) => [validate({}), validate({ url: "" })]),
  ).toEqual([[false, true]]);
  expect(of("web_search", bound(["web_*"])).because).toContain('the maker of the agent "robot" may not use it');
  expect(of("web_browse", bound(["notes_*"])).because).toContain('the agent "robot" does not have it');
  expect(of("web_browse", "no grant").isAllowed).toBe(false);
});

test.each([
  "web_*",
  "mcp_invoke_tool",
  "agent__chat",
  "agent__helper",
  "execute_python_script",
  "spawn_wisps",
  "invoke_agent",
])("no list has %s", async (name) => {
  await expect(readPolicy(`everyone: { scripts: { allow: ["${name}"] } }`, "of the test")).rejects.toThrow();
});

test("the manager is a delegate for those alone whose scripts may call a tool, and its user follows from its topic", async () => {
  const services = "services: { python: { topic: script.invoke, user: snake }, web-tools: { topic: tool.invoke } }";
  const documentOf = async (yaml: string) => (await readPolicy(`${services}\n${yaml}`, "of the test")).document;
  const nobody = await documentOf("everyone: { allow: ['*'] }");
  const one = await documentOf("callers: { one: { scripts: { allow: [web_browse] } }, other: {} }");
  const all = await documentOf("everyone: { scripts: { allow: [web_browse] } }");
  const may = (document: typeof one) => ["one", "other"].map((caller) => peersOf(document).mayCallFor("snake", caller));
  const publishes = (document: typeof one) => busRights(document).find(({ user }) => user === "snake")?.publishes;

  expect([may(nobody), may(one), may(all)]).toEqual([
    [false, false],
    [true, false],
    [true, true],
  ]);
  expect(peersOf(one).scriptsUser).toBe("snake");
  expect(publishes(nobody)).not.toContain("tool.invoke");
  expect(publishes(one)).toContain("tool.invoke");
});
