import { expect, test } from "vitest";
import { createPolicy } from "../policy.ts";
import { readPolicy } from "./read-policy.ts";

async function faultsOf(text: string): Promise<readonly string[]> {
  return readPolicy(text, "test.yaml").then(
    () => [],
    (error: { faults: readonly string[] }) => error.faults,
  );
}

test("says all that is wrong at once, each with its line", async () => {
  const faults = await faultsOf(`
identity: trust
callers:
  Researcher: {}
  writer:
    alow: []
    tokens: [{ hash: "plain text" }]
    rules:
      - tools: ["web search"]
        rate: { calls: 0 }
everyone: { limits: { depth: -1 } }
`);
  expect(faults).toEqual([
    'identity, line 2: expected one of ["trusted","verified"], got the text "trust"',
    'callers, line 4: the name of a property: expected text that matches ^[a-z0-9][a-z0-9-]{0,38}$, got the text "Researcher"',
    'callers.writer, line 6: unknown property "alow": did you mean "allow"?',
    "callers.writer.tokens.0.hash, line 7: expected text that matches ^sha256:[0-9a-f]{64}$",
    'callers.writer.rules.0.tools.0, line 9: expected text that matches ^[A-Za-z0-9_*-]{1,64}$, got the text "web search"',
    "callers.writer.rules.0.rate.perSeconds, line 10: is required and missing",
    "callers.writer.rules.0.rate.calls, line 10: expected at least 1, got the number 0",
    "everyone.limits.depth, line 11: expected at least 0, got the number -1",
  ]);
});

test("an operator without rights of its own has those of before, and words that are no right are refused", async () => {
  const { document } = await readPolicy("operators: [{ name: ops, tokens: [] }]", "test.yaml");
  expect(document.operators).toEqual([
    { name: "ops", tokens: [], may: ["read", "letters", "servers"], speaksFor: [], sees: [] },
  ]);
  expect(
    await faultsOf(`
operators:
  - name: ops
    tokens: []
    may: [read, write]
    speaksFor: ["Alice B"]
    sees: [secrets]
    rights: []
`),
  ).toEqual([
    'operators.0, line 3: unknown property "rights": known: name, tokens, may, speaksFor, sees, keys',
    'operators.0.may.1, line 5: expected one of ["read","cancel","call","decide","letters","servers"], got the text "write"',
    'operators.0.speaksFor.0, line 6: expected text that matches ^[a-z0-9*-]{1,64}$, got the text "Alice B"',
    'operators.0.sees.0, line 7: expected one of ["arguments","results","transcripts","memory"], got the text "secrets"',
  ]);
});

const TOKEN = "tok3n-5Zr8Qw1Lm9Xv2Kc7Tb";

test.each([
  `tokens: [{ hash: ${TOKEN} }]`,
  `tokens: [{ hash: 'sha256:${TOKEN}' }]`,
  `tokens: [${TOKEN}]`,
  `tokens: ${TOKEN}`,
  `tokens: [{ ${TOKEN}: x }]`,
  `tokens: [{ hash: "sha256:${"0".repeat(64)}", expires: ${TOKEN} }]`,
  `tokens: [{ hash: !${TOKEN} x }]`,
  `tokens: [{ hash: !!js/${TOKEN} x }]`,
  `tokens: [{ hash: "x" ${TOKEN} }]`,
  `tokens: [{ hash: *${TOKEN} }]`,
  `tokens: [{ hash: "\\u${TOKEN}" }]`,
  `tokens: |${TOKEN}\n`,
  `tokens: @${TOKEN}`,
  `tokens: [{ hash: sha256: ${TOKEN}: x }]`,
])("a token put where its hash belongs stands in no fault: %j", async (line) => {
  for (const text of [
    `callers:\n  a:\n    ${line}\n`,
    `callers: { a: { ${line.trim()} } }\n`,
    `operators:\n  - name: a\n    ${line}\n`,
  ]) {
    const faults = await faultsOf(text);
    expect(faults).not.toEqual([]);
    for (const fault of faults)
      for (let at = 0; at + 6 <= TOKEN.length; at += 3) expect(fault).not.toContain(TOKEN.slice(at, at + 6));
  }
});

test.each(["", "# nothing yet\n", "null"])(
  "an empty file is refused, as somebody may be writing it: %j",
  async (text) => {
    expect(await faultsOf(text)).toEqual(["it is empty: write {} for a policy that allows nothing"]);
    expect(await faultsOf("{}")).toEqual([]);
  },
);

test("a file whose aliases lead into themselves is refused in words", async () => {
  expect(await faultsOf("callers: &a { x: *a }")).toEqual(["it has an alias of what the alias is a part of"]);
});

test("a file that is too deep to be read is refused in words", async () => {
  const deep = `everyone: ${"{not: ".repeat(20_000)}{}${"}".repeat(20_000)}`;
  expect((await faultsOf(deep))[0]).toMatch(/^line 1, column \d+: lists and objects lie too deep/);
});

test("says what stands twice and must not", async () => {
  const hash = `sha256:${"0".repeat(64)}`;
  const faults = await faultsOf(`
callers:
  a: { tokens: [{ hash: "${hash}" }] }
  b: { user: a, tokens: [{ hash: "${hash}" }] }
services:
  x: { topic: tool.invoke }
  y: { topic: tool.invoke, user: x }
operators:
  - { name: ops, tokens: [{ hash: "${hash}" }] }
  - { name: ops, tokens: [] }
`);
  expect(faults).toEqual([
    `callers.b.tokens.0.hash, line 4: it stands at callers.a.tokens.0.hash already: a token belongs to one caller or operator`,
    `operators.0.tokens.0.hash, line 9: it stands at callers.a.tokens.0.hash already: a token belongs to one caller or operator`,
    'callers.b, line 4: "a" stands at callers.a already: a broker user belongs to one caller',
    'services.y, line 7: "x" stands at services.x already: a broker user belongs to one service',
    'services.y.topic, line 7: "tool.invoke" stands at services.x.topic already: a topic has one service',
    'operators.1.name, line 10: "ops" stands at operators.0.name already: an operator is named once',
  ]);
});

test("a topic that one service owns is no other's, also where the policy does not say that it owns it", async () => {
  const faults = await faultsOf(`
services:
  agent: { topic: tool.invoke.agent }
  spy: { topic: tool.invoke.spy, owns: [user.message, tool.invoke.agent, spy.own] }
`);
  expect(faults).toEqual([
    'services.spy.owns.0, line 4: "user.message" stands at services.agent.owns.1 already: a topic has one service',
    'services.spy.owns.1, line 4: "tool.invoke.agent" stands at services.agent.topic already: a topic has one service',
  ]);
});

test.each([
  ["delegates: [{ user: agent }]", "delegates.0.for, line 1: is required and missing"],
  [
    "delegates: [{ user: agent, for: [Alice] }]",
    "delegates.0.for.0, line 1: expected text that matches ^[a-z0-9*-]{1,64}$",
  ],
  ["delegates: ['a b']", "delegates.0, line 1:"],
  [
    "delegates: [{ user: old, for: [a] }]\nlegacyPeers: [old]",
    'legacyPeers.0, line 2: "old" may call on behalf of others',
  ],
])("a delegate is a user, or one and those that it may call for: %j", async (yaml, fault) => {
  expect(await faultsOf(yaml)).toEqual([expect.stringContaining(fault)]);
});

test("verified senders need services, else a result that was left for a restarted caller could be from anybody", async () => {
  expect(await faultsOf("callers: { a: {} }\nidentity: verified")).toEqual([
    'identity, line 2: "verified" needs the property "services": without it nobody knows whose answers count',
  ]);
});

test("says that a legacy peer, whose name anybody can use, may not speak for others", async () => {
  const faults = await faultsOf(
    "delegates: [bridge]\nlegacyPeers: [old, bridge, ops]\noperators: [{ name: ops, tokens: [] }]",
  );
  expect(faults).toEqual([
    expect.stringMatching(/^legacyPeers\.1, line 2: "bridge" may call on behalf of others/),
    expect.stringMatching(/^legacyPeers\.2, line 2: "ops" may call on behalf of others/),
  ]);
});

test.each([
  ["- a list", "expected object, got an array"],
  ["a: [", "line 1, column 5: Flow sequence in block collection must be sufficiently indented and end with a ]"],
  ["a: 1\na: 2", "line 2, column 1: Map keys must be unique"],
  [
    "everyone: { allow: ['*'] }\n---\neveryone: { allow: [] }",
    "line 2, column 1: a second document begins here, and one is read. Write all in one",
  ],
  ["x".repeat(1024 * 1024 + 1), "it is larger than 1048576 bytes"],
])("refuses what is no policy: %.20s", async (text, fault) => {
  expect((await faultsOf(text))[0]).toContain(fault);
});

test("the revision is that of what the file says, not of how it says it", async () => {
  const revision = async (text: string) => (await readPolicy(text, "test")).revision;
  const yaml = await revision(
    "services: { web: { topic: t } }\nidentity: verified # by the broker\neveryone: { allow: [x], deny: [y] }",
  );
  expect(yaml).toMatch(/^[0-9a-f]{12}$/);
  expect(
    await revision(
      '{"everyone": {"deny": ["y"], "allow": ["x"]}, "identity": "verified", "services": {"web": {"topic": "t"}}}',
    ),
  ).toBe(yaml);
  expect(
    await revision("services: { web: { topic: t } }\nidentity: verified\neveryone: { allow: [x], deny: [z] }"),
  ).not.toBe(yaml);
});

test("argument rules are compiled when the policy is read; what cannot be is a fault of the file", async () => {
  const rule = (schema: object) => JSON.stringify({ everyone: { rules: [{ tools: ["*"], arguments: schema }] } });
  expect(await faultsOf(rule({ type: "object", properties: { url: { pattern: "^https://" } } }))).toEqual([]);
  expect(await faultsOf(rule({ allOf: [{ $ref: "#" }] }))).toEqual([
    expect.stringContaining("its references lead back to where they began"),
  ]);
  const [misspelt] = await faultsOf(rule({ type: "object", propertys: {} }));
  expect(misspelt).toMatch(/^everyone\.rules\.0\.arguments, line 1: is not a usable JSON Schema: .*propertys/);
  const [backtracking] = await faultsOf(rule({ properties: { url: { pattern: "(a)\\1" } } }));
  expect(backtracking).toMatch(/^everyone\.rules\.0\.arguments, line 1: is not a usable JSON Schema/);
});

test("a rule of approval that nobody could fulfil is a fault, and so is a schema of its arguments that cannot be used", async () => {
  expect(
    await faultsOf(`
operators:
  - { name: ada, tokens: [], may: [decide] }
  - { name: ops, tokens: [] }
approve:
  - { tools: [a], by: [ada, ops, eve] }
  - { tools: [a], by: [ada], needed: 2 }
  - { tools: [a], by: [ada], arguments: { propertys: {} } }
`),
  ).toEqual([
    'approve.0.by.1, line 6: the operator "ops" may not decide: add decide to its list may',
    'approve.0.by.2, line 6: "eve" is no operator: name one of operators',
    "approve.1.needed, line 7: 2 operators must approve, and by names only 1: name more, or lower needed",
    expect.stringMatching(/^approve\.2\.arguments, line 8: is not a usable JSON Schema: .*propertys/),
  ]);
  const rule = (more: string) => `operators: [{ name: ada, tokens: [], may: [decide] }]\napprove: [{ ${more} }]`;
  for (const more of [
    "tools: [a]",
    "tools: [a], by: []",
    "tools: [a], by: [ada, ada], needed: 2",
    "tools: [a], by: [ada], hours: 169",
    "tools: [a], by: [ada], needed: 0",
  ])
    expect(await faultsOf(rule(more))).toEqual([expect.stringMatching(/^approve\.0.*, line 2: /)]);
});

test("each pattern of a policy is matched by itself", async () => {
  const properties = { a: { pattern: "^a" }, b: { pattern: "^b" } };
  const policy = createPolicy(
    await readPolicy(JSON.stringify({ everyone: { rules: [{ tools: ["*"], arguments: { properties } }] } }), "test"),
  );
  const [rule] = policy.decide({ caller: "a", tool: "x" }).argumentRules;
  expect(
    [
      { a: "a", b: "b" },
      { a: "a", b: "a" },
    ].map((input) => rule?.validate(input)),
  ).toEqual([true, false]);
});

test("a pattern that others take for ever over is matched at once", async () => {
  const text = JSON.stringify({
    everyone: { rules: [{ tools: ["*"], arguments: { properties: { url: { type: "string", pattern: "^(a+)+$" } } } }] },
  });
  const policy = createPolicy(await readPolicy(text, "test"));
  const [rule] = policy.decide({ caller: "a", tool: "x" }).argumentRules;
  expect(rule?.validate({ url: "a".repeat(5_000) })).toBe(true);
  expect(rule?.validate({ url: `${"a".repeat(5_000)}!` })).toBe(false); // Node's own engine would outlast the test
});
