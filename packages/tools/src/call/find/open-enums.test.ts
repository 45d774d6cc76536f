import { createMemoryBus } from "@rockbot/bus";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { expect, test } from "vitest";
import { serveTools } from "../../serve/serve-tools.ts";
import { testTool } from "../../test-tools.ts";
import { createToolCaller } from "../tool-caller.ts";

const inputSchema = {
  type: "object",
  properties: {
    kind: { type: ["string", "null"], "x-enum-now": ["post", "node", "secret"] },
    categories: {
      type: "array",
      items: { type: "string", "x-open-enum": Array.from({ length: 150 }, (_, i) => `c${i}`) },
      description: "Some.",
    },
    peer: { type: "string", "x-enum-now": Array.from({ length: 101 }, (_, i) => `p${i}`) },
    text: { type: "string" },
  },
};

async function shownTo(caller: string, yaml: string, args = {}) {
  await using bus = createMemoryBus();
  const policy = holdPolicy(
    createPolicy(await readPolicy(`delegates: [gateway]\neveryone: { allow: ['*'] }\n${yaml}`, "of the test")),
  );
  const tool = testTool("find", async () => "", { inputSchema });
  await using _ = await serveTools(bus, { tools: [tool] }, { service: "tests", policy });
  await using gateway = await createToolCaller(bus, { agent: "gateway", policy });
  await gateway.discovered();
  await gateway.call("find", args, { onBehalfOf: caller });
  const [one, two] = [1, 2].map(() => gateway.toolsOf(caller).find(({ name }) => name === "find"));
  expect(one).toBe(two);
  return JSON.parse(one?.parametersSchema ?? "").properties;
}

test("values that a service announces for arguments are an enum for models if they are all that is right; else words that say how many more there are", async () => {
  const { kind, categories, peer, text } = await shownTo("alice", "", { kind: "unknown", categories: ["other"] });
  expect(kind).toEqual({ type: ["string", "null"], enum: ["post", "node", "secret", null] });
  const first = (letter: string) => Array.from({ length: 100 }, (_, i) => `${letter}${i}`).join(", ");
  expect(categories).toEqual({
    type: "array",
    items: { type: "string" },
    description: `Some. There are: ${first("c")} and 50 more. Others are taken, too.`,
  });
  expect(peer).toEqual({ type: "string", description: `There are: ${first("p")} and 1 more.` });
  expect(text).toEqual({ type: "string" });
});

test("values that the policy refuses from a caller are not shown to it, whatever else its rules ask for", async () => {
  const rule =
    "{ properties: { kind: { enum: [post, node] }, categories: { items: { pattern: '^c1$' } } }, dependencies: { kind: [text] } }";
  const none = "{ properties: { kind: { const: x } } }";
  const yaml = `callers: { bob: { rules: [{ tools: [find], arguments: ${rule} }] }, carol: { rules: [{ tools: ['f*'], arguments: ${none} }] } }`;
  const bob = await shownTo("bob", yaml);
  expect([bob.kind.enum, bob.categories.description]).toEqual([
    ["post", "node", null],
    "Some. There are: c1. Others are taken, too.",
  ]);
  expect((await shownTo("carol", yaml)).kind).toEqual({ type: ["string", "null"] });
  expect((await shownTo("alice", yaml)).kind.enum).toContain("secret");
});
