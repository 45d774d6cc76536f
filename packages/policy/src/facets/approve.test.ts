import { expect, test } from "vitest";
import type { ApprovalRule } from "../decision.ts";
import { readPolicy } from "../document/read-policy.ts";
import { createPolicy } from "../policy.ts";

const people = ["ada", "ops"].map((name) => `{ name: ${name}, tokens: [], may: [decide] }`).join(", ");

const policyOf = async (text: string) =>
  createPolicy(await readPolicy(`everyone: { allow: ["*"] }\noperators: [${people}]\n${text}`, "test.yaml"));

const approvalsOf = async (text: string, caller = "researcher", tool = "gmail_send") =>
  (await policyOf(text)).decide({ caller, tool }).approvals;

const only = async (text: string): Promise<ApprovalRule> => {
  const [rule, ...more] = await approvalsOf(text);
  if (rule === undefined || more.length > 0) throw new Error(`expected one rule of approval of ${text}`);
  return rule;
};

const MAIL = `
approve:
  - { tools: [gmail_send, "files__*"], callers: ["res*"], by: [ada, ops], needed: 2, hours: 0.5 }
  - { tools: ["*_send"], by: [ops] }
`;

test("a decision has all rules of approval whose tools and callers match, and without one the same empty list", async () => {
  expect(await approvalsOf(MAIL)).toEqual([
    {
      by: ["ada", "ops"],
      needed: 2,
      forMs: 1_800_000,
      at: "approve.0, line 5",
      arguments: undefined,
      hash: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
    },
    expect.objectContaining({ by: ["ops"], needed: 1, forMs: 86_400_000, at: "approve.1, line 6" }),
  ]);
  expect(await approvalsOf(MAIL, "writer")).toMatchObject([{ by: ["ops"] }]);
  expect(await approvalsOf(MAIL, "researcher", "files__read")).toMatchObject([{ needed: 2 }]);
  const none = await approvalsOf(MAIL, "writer", "files__read");
  expect(none).toEqual([]);
  expect(Object.isFrozen(none)).toBe(true);
  expect(await approvalsOf("")).toBe(none);
});

test("a rule of approval allows nothing", async () => {
  const policy = await policyOf(`${MAIL}callers: { researcher: { deny: [gmail_send] } }`);
  expect(policy.decide({ caller: "researcher", tool: "gmail_send" }).isAllowed).toBe(false);
  expect(policy.decide({ caller: "researcher", tool: "bash" }).isAllowed).toBe(false);
});

test("the hash of a rule is of all that it says with its defaults, and not of its place", async () => {
  const plain = await only("approve: [{ tools: [gmail_send], by: [ada] }]");
  const same = await only(`
queues: {}
approve:
  - { tools: [other], by: [ops] }
  - { hours: 24, needed: 1, callers: ["*"], by: [ada], tools: [gmail_send] }
`);
  expect(same.at).not.toBe(plain.at);
  expect(same.hash).toBe(plain.hash);
  const others = await Promise.all(
    [
      "tools: [gmail_send, x], by: [ada]",
      "tools: [gmail_send], by: [ops]",
      "tools: [gmail_send], by: [ada, ops]",
      "tools: [gmail_send], by: [ada, ops], needed: 2",
      "tools: [gmail_send], by: [ada], hours: 25",
      "tools: [gmail_send], by: [ada], callers: [researcher]",
      "tools: [gmail_send], by: [ada], arguments: {}",
      "tools: [gmail_send], by: [ada], arguments: { required: [to] }",
    ].map((rule) => only(`approve: [{ ${rule} }]`)),
  );
  expect(new Set([plain, ...others].map(({ hash }) => hash)).size).toBe(9);
});

test("a rule may ask only for some arguments, which are those that its schema takes", async () => {
  const rule = await only(`
approve:
  - tools: [gmail_send]
    by: [ada]
    arguments: { properties: { to: { not: { pattern: "@example[.]com$" } } } }
`);
  expect(["ada@example.com", "eve@example.org"].map((to) => rule.arguments?.validate({ to }))).toEqual([false, true]);
});

test("arguments that are too deep to be checked need the approval", async () => {
  const { arguments: asked } = await only(`
approve:
  - tools: [gmail_send]
    by: [ada]
    arguments:
      required: [never]
      properties: { child: { anyOf: [{ $ref: "#" }, { $ref: "#/$defs/again" }] } }
      $defs: { again: { properties: { child: { anyOf: [{ $ref: "#" }, { $ref: "#/$defs/again" }] } } } }
`);
  const deep = Array.from({ length: 60 }).reduce<object>((child) => ({ child }), {});
  expect(asked?.validate({})).toBe(false);
  expect(asked?.validate(deep)).toBe(true);
});

test("what an approval is bound to changes with what the caller's calls work with, and with nothing else", async () => {
  const rules = "approve: [{ tools: [gmail_send], by: [ada] }]";
  const boundTo = async (more: string, caller = "researcher", tool = "gmail_send") =>
    (await policyOf(`${rules}\n${more}`)).decide({ caller, tool }).boundTo;
  const of = (own: string) => boundTo(`callers: { researcher: { ${own} } }`);
  const plain = await boundTo("");
  expect(plain).toMatch(/^[A-Za-z0-9_-]{22}$/);
  expect(await boundTo("", "researcher", "web_search")).toBeUndefined();
  expect(await boundTo("", "writer")).toBe(plain);
  expect(await of("limits: { depth: 3 }, deny: [x]")).toBe(plain);
  const google = await of("credentials: { google: a, github: b }");
  expect(await of("credentials: { github: b, google: a }")).toBe(google);
  const others = await Promise.all(
    [
      "credentials: { google: c, github: b }",
      "roots: [notes]",
      "roots: []",
      "hosts: ['pypi.org:443']",
      "spaces: [notes]",
    ].map(of),
  );
  expect(new Set([plain, google, ...others]).size).toBe(7);
});

test("an explanation names the people whose approval is needed, the time, and the place", async () => {
  const explained = async (text: string) =>
    (await policyOf(text))
      .explain({ caller: "researcher", tool: "gmail_send" })
      .filter((line) => line.includes("approval"));
  expect(await explained(MAIL)).toEqual([
    "needs the approval of 2 of ada, ops, within 0.5 h: approve.0, line 5",
    "needs the approval of 1 of ops, within 24 h: approve.1, line 6",
  ]);
  expect(await explained("approve: [{ tools: [gmail_send], by: [ada], arguments: {} }]")).toEqual([
    "needs the approval of 1 of ada, within 24 h, only for arguments that fit a schema: approve.0, line 3",
  ]);
});
