import fc from "fast-check";
import { expect, test } from "vitest";
import type { Decision } from "./decision.ts";
import { defaultPolicySource, type PolicySource, readPolicy } from "./document/read-policy.ts";
import { unnamedCallers } from "./document/unnamed-callers.ts";
import { ANY } from "./facets/credentials.ts";
import type { Readers, ServiceFacet } from "./facets/index.ts";
import { createPolicy, type Policy } from "./policy.ts";

const policyOf = async (text: string): Promise<Policy<Readers<ServiceFacet>>> =>
  createPolicy(await readPolicy(text, "test.yaml"));

test("without a file all callers may use all tools but the dangerous ones", () => {
  const policy = createPolicy(defaultPolicySource());
  expect(policy.decide({ caller: "anybody", tool: "web_search" })).toMatchObject({
    isAllowed: true,
    revision: "default",
    inFlight: 256,
    depth: 8,
    rates: [],
  });
  expect(policy.decide({ caller: "anybody", tool: "bash" })).toMatchObject({ isAllowed: false });
  expect(policy.decide({ caller: "anybody", tool: "mcp_register_server" })).toMatchObject({ isAllowed: false });
  expect(policy.decide({ caller: "anybody", tool: "launch", isDangerous: true })).toMatchObject({ isAllowed: false });
  expect(policy.decide({ caller: "anybody", tool: "launch" })).toMatchObject({ isAllowed: true });
  expect(policy.document).toMatchObject({
    identity: "trusted",
    delegates: ["scheduler", "agent", "gateway", "operator"],
    legacyPeers: [],
  });
});

test("what no list of a file allows is denied: to callers that are not named, and to those without a list of their own", async () => {
  for (const text of [
    "{}",
    "everyone: {}",
    "callers: { a: { deny: [x] } }\neveryone: { deny: [y], limits: { depth: 1 } }",
  ]) {
    const policy = await policyOf(text);
    for (const caller of ["a", "stranger", ""]) {
      expect(policy.decide({ caller, tool: "web_search" })).toMatchObject({
        isAllowed: false,
        because: expect.stringContaining("everyone.allow"),
      });
    }
  }
});

test.each<[string, string[]]>([
  ["{}", ["callers that are not named may use no tool: everyone.allow names none"]],
  ["everyone: { allow: ['*'] }", ["callers that are not named may use every tool but the dangerous ones"]],
  [
    "everyone: { allow: [web_search, 'a_*'] }\ncallers: { a: {} }",
    ["callers that are not named may use only web_search, a_*"],
  ],
  [
    "callers: { a: {}, b: { allow: [x] }, c: { allow: [] } }",
    [
      "callers that are not named may use no tool: everyone.allow names none",
      "may use no tool though named, as there is no list of what they are allowed: a, c",
    ],
  ],
])("a policy's operator is told what it lets callers do that are not named: %j", async (text, words) => {
  expect(unnamedCallers((await policyOf(text)).document)).toEqual(words);
});

test("a dangerous tool is allowed by its full name only", async () => {
  const policy = await policyOf(`
callers:
  admin: { allow: ["*", bash] }
  agent: { allow: ["*", "bas*"] }
`);
  expect(policy.decide({ caller: "admin", tool: "bash" }).isAllowed).toBe(true);
  expect(policy.decide({ caller: "agent", tool: "bash" })).toMatchObject({ isAllowed: false });
  expect(policy.decide({ caller: "stranger", tool: "bash" })).toMatchObject({ isAllowed: false });
});

const LAYERED = `
everyone:
  allow: ["web_*"]
  deny: ["*_secret"]
  limits: { inFlight: 10, depth: 3 }
  rules:
    - tools: ["*"]
      timeoutMs: 30000
      concurrency: 8
callers:
  researcher:
    allow: ["web_*", "file_*"]
    deny: [web_upload]
    limits: { depth: 5, callsPerSecond: 0.5 }
    rules:
      - tools: ["web_*"]
        rate: { calls: 60, perSeconds: 60 }
        concurrency: 2
        cacheSeconds: 300
      - tools: [web_search]
        rate: { calls: 5, perSeconds: 1 }
        timeoutMs: 60000
queues:
  search: { tools: [web_search], concurrency: 4 }
`;

test.each([
  ["researcher", "web_search", true, `"web_*" in callers.researcher.allow.0, line 12`],
  ["researcher", "file_read", true, `"file_*" in callers.researcher.allow.1, line 12`],
  ["researcher", "web_upload", false, `"web_upload" in callers.researcher.deny.0, line 13`],
  ["researcher", "web_secret", false, `"*_secret" in everyone.deny.0, line 4`],
  ["researcher", "mail_send", false, "nothing in callers.researcher.allow, line 12 names it"],
  ["other", "web_upload", true, `"web_*" in everyone.allow.0, line 3`],
  ["other", "file_read", false, "nothing in everyone.allow, line 3 names it"],
])(
  "a caller's own list of what is allowed replaces everyone's, and what is denied adds up: %s, %s",
  async (caller, tool, isAllowed, because) => {
    expect((await policyOf(LAYERED)).decide({ caller, tool })).toMatchObject({ isAllowed, because });
  },
);

test("every rule that matches applies, the strictest of each kind holds, and a caller's own limits replace everyone's", async () => {
  const policy = await policyOf(LAYERED);
  const decision = policy.decide({ caller: "researcher", tool: "web_search" });
  expect(decision).toMatchObject({ concurrency: 2, timeoutMs: 30_000, cacheSeconds: 300, inFlight: 10, depth: 5 });
  expect(decision.rates.map(({ amount, perMs }) => [amount, perMs])).toEqual([
    [60, 60_000],
    [5, 1_000],
    [1, 2_000],
  ]);
  expect(decision.queue).toEqual({ name: "search", concurrency: 4, waiting: 16 });
  expect(policy.decide({ caller: "other", tool: "web_browse" })).toMatchObject({
    concurrency: 8,
    inFlight: 10,
    depth: 3,
    rates: [],
    queue: undefined,
  });
});

test("calls of one tool are counted apart from those of another and of another caller, calls over all tools together", async () => {
  const policy = await policyOf(`
everyone:
  limits: { callsPerSecond: 5 }
  rules: [{ tools: ["*"], rate: { calls: 1, perSeconds: 1 } }]
`);
  const keys = ([caller, tool]: [string, string]) => policy.decide({ caller, tool }).rates.map(({ key }) => key);
  const [ofTool, overall] = keys(["a", "x"]);
  const [ofOtherTool, sameOverall] = keys(["a", "y"]);
  const [ofOtherCaller, otherOverall] = keys(["b", "x"]);
  expect(new Set([ofTool, ofOtherTool, ofOtherCaller, overall, otherOverall]).size).toBe(5);
  expect(sameOverall).toBe(overall);
});

test("names of callers that everything has are callers like any other", async () => {
  const policy = await policyOf("everyone: { allow: ['*'] }\ncallers: { constructor: { allow: [] } }");
  expect(policy.decide({ caller: "constructor", tool: "web_search" }).isAllowed).toBe(false);
  for (const caller of ["__proto__", "toString", "hasOwnProperty"])
    expect(policy.decide({ caller, tool: "web_search" }).isAllowed).toBe(true);
});

test("remembers decisions, as many as it has room for", () => {
  const policy = createPolicy(defaultPolicySource());
  const first = policy.decide({ caller: "a", tool: "x" });
  expect(policy.decide({ caller: "a", tool: "x" })).toBe(first);
  for (let i = 0; i < 25_000; i++) expect(policy.decide({ caller: `c${i}`, tool: "x" }).isAllowed).toBe(true);
  const again: Decision = policy.decide({ caller: "a", tool: "x" });
  expect(again).not.toBe(first);
  expect(again).toEqual(first);
});

test("explains what decided, and each limit with its line", async () => {
  const policy = await policyOf(LAYERED);
  expect(policy.explain({ caller: "researcher", tool: "web_search" })).toEqual([
    `"researcher" may use "web_search": "web_*" in callers.researcher.allow.0, line 12`,
    `revision ${policy.revision}`,
    "once untrusted content was read: allowed: nothing denies it then",
    "at most 8 calls at once, in one instance of a service: everyone.rules.0, line 7",
    "at most 30000 ms a call: everyone.rules.0, line 7",
    "at most 60 calls in 60 s: callers.researcher.rules.0, line 16",
    "at most 2 calls at once, in one instance of a service: callers.researcher.rules.0, line 16",
    "no kept answer older than 300 s: callers.researcher.rules.0, line 16",
    "at most 5 calls in 1 s: callers.researcher.rules.1, line 20",
    "at most 60000 ms a call: callers.researcher.rules.1, line 20",
    "at most 0.5 calls a second of all tools",
    "at most 10 calls at once of all tools, in one instance of a service",
    "at most 5 calls between the first and this one",
    "messages that one process takes a second: invoke 20000 with 64 MiB, cancel 200 with 64 KiB, manage 20 with 256 KiB, refresh 2 with 4 KiB, progress 500 with 1 MiB",
    "at most 4 calls at once by all callers, 16 waiting, in one instance: queues.search, line 24",
  ]);
});

const AFTER = `
everyone:
  allow: ["*"]
  deny: [mail_delete]
  afterUntrusted: { effects: deny, allow: [note_save, mail_delete, bash] }
callers:
  trusting: { afterUntrusted: { effects: allow } }
  strict: { afterUntrusted: { effects: deny } }
  narrow: { allow: [web_browse] }
`;

test("once untrusted content was read, tools with effects are denied unless they are named in full; a caller's own entry takes the place of everyone's", async () => {
  const policy = await policyOf(AFTER);
  const after = (caller: string, tool: string, isReadOnly = false) =>
    policy.decide({ caller, tool, isReadOnly, hasReadUntrusted: true });
  expect(after("a", "mail_send")).toMatchObject({
    isAllowed: false,
    isDeniedAfterUntrusted: true,
    because: "untrusted content was read before, and nothing in everyone.afterUntrusted, line 5 names it",
  });
  expect(after("a", "note_save").isAllowed).toBe(true);
  expect(after("a", "web_browse", true).isAllowed).toBe(true);
  expect(after("trusting", "mail_send").isAllowed).toBe(true);
  for (const tool of ["agent__chat", "mcp_invoke_tool"]) expect(after("a", tool).isAllowed).toBe(true); // what they call is decided by itself
  expect(after("strict", "note_save")).toMatchObject({
    isAllowed: false,
    because: expect.stringContaining("callers.strict.afterUntrusted, line 8"),
  });
  // The list adds nothing to what is allowed without the mark.
  for (const [caller, tool] of [
    ["a", "mail_delete"],
    ["a", "bash"],
    ["narrow", "note_save"],
  ] as const) {
    expect(after(caller, tool)).toEqual(policy.decide({ caller, tool }));
  }
});

test("the mark of untrusted content restricts only, whatever the policy says, and changes no limit", () => {
  const names = ["a", "b", "c", "bash"];
  const globs = fc.subarray([...names, "*", "b*"]);
  const after = fc.option(
    fc.record({ effects: fc.constantFrom("allow" as const, "deny" as const), allow: fc.subarray(names) }),
    { nil: undefined },
  );
  const part = fc.record({ allow: globs, deny: globs, afterUntrusted: after });
  const use = fc.record({
    caller: fc.constantFrom("a", "x"),
    tool: fc.constantFrom(...names),
    isDangerous: fc.boolean(),
    isReadOnly: fc.boolean(),
  });
  fc.assert(
    fc.property(part, part, use, (everyone, own, asked) => {
      const source = defaultPolicySource();
      const document = {
        ...source.document,
        everyone: { rules: [], limits: {}, ...everyone },
        callers: { a: { tokens: [], rules: [], limits: {}, ...own } },
      };
      const policy = createPolicy({ ...source, document: document as PolicySource["document"] });
      const { isAllowed, because, ...limits } = policy.decide(asked);
      const {
        isAllowed: isAllowedAfter,
        because: _,
        isDeniedAfterUntrusted,
        ...limitsAfter
      } = policy.decide({ ...asked, hasReadUntrusted: true });
      expect(isAllowedAfter && !isAllowed).toBe(false);
      if (asked.isReadOnly) expect(isAllowedAfter).toBe(isAllowed);
      expect(isDeniedAfterUntrusted === true).toBe(isAllowed && !isAllowedAfter);
      expect(limitsAfter).toEqual({ ...limits, isDeniedAfterUntrusted: undefined });
      expect(because).not.toBe("");
    }),
  );
});

test("decisions are remembered by the mark; a read-only tool has one for both", async () => {
  const policy = await policyOf(AFTER);
  const use = { caller: "a", tool: "mail_send" };
  const marked = policy.decide({ ...use, hasReadUntrusted: true });
  expect(policy.decide({ ...use, hasReadUntrusted: true })).toBe(marked);
  expect(policy.decide(use)).not.toBe(marked);
  expect(policy.decide(use)).toMatchObject({ isAllowed: true });
  expect(policy.decide({ ...use, tool: "web", isReadOnly: true, hasReadUntrusted: true })).toBe(
    policy.decide({ ...use, tool: "web", isReadOnly: true }),
  );
});

test("explains what holds once untrusted content was read", async () => {
  const policy = await policyOf(AFTER);
  const explained = (caller: string, tool: string, isReadOnly?: boolean) =>
    policy.explain({ caller, tool, isReadOnly }).filter((line) => line.startsWith("once untrusted content was read"));
  expect(explained("a", "mail_send", false)).toEqual([
    "once untrusted content was read: denied: nothing in everyone.afterUntrusted, line 5 names it",
  ]);
  expect(explained("a", "mail_send")).toEqual([
    expect.stringContaining("denied, unless the tool is read-only: nothing in everyone.afterUntrusted"),
  ]);
  expect(explained("a", "note_save")).toEqual([
    expect.stringContaining('allowed: "note_save" in everyone.afterUntrusted.allow.0, line 5'),
  ]);
  expect(explained("a", "web_browse", true)).toEqual([
    "once untrusted content was read: allowed, as the tool is read-only",
  ]);
  expect(explained("a", "mcp_invoke_tool")).toEqual([
    expect.stringContaining("allowed, as the policy decides on each call that the tool makes"),
  ]);
  expect(explained("trusting", "mail_send")).toEqual([
    "once untrusted content was read: allowed: nothing denies it then",
  ]);
  expect(explained("a", "mail_delete")).toEqual([]);
});

test("a call uses its caller's credential, else everyone's; once a kind is named, others have none", async () => {
  const policy = await policyOf(
    "callers: { a: { credentials: { google: a@example.com } }, b: {} }\neveryone: { credentials: { crm: CRM_KEY } }",
  );
  expect(
    ["google", "crm", "other"].map((kind) => [policy.credentialOf("a", kind), policy.credentialOf("b", kind)]),
  ).toEqual([
    ["a@example.com", undefined],
    ["CRM_KEY", "CRM_KEY"],
    [ANY, ANY],
  ]);
  expect(policy.explain({ caller: "a", tool: "x" })).toEqual(
    expect.arrayContaining(["uses the credential google: a@example.com"]),
  );
});

test("a caller opens the roots of its list, else everyone's; once a list stands, others open none", async () => {
  const named = await policyOf("callers: { a: { roots: [notes] }, b: {} }");
  expect([named.rootsOf("a"), named.rootsOf("b")]).toEqual([["notes"], []]);
  const shared = await policyOf("callers: { a: { roots: [] } }\neveryone: { roots: [docs] }");
  expect([shared.rootsOf("a"), shared.rootsOf("b")]).toEqual([[], ["docs"]]);
  expect((await policyOf("{}")).rootsOf("a")).toBeUndefined();
  const hosts = await policyOf("callers: { a: { hosts: ['pypi.org:443'] }, b: {} }");
  expect([hosts.hostsOf("a"), hosts.hostsOf("b"), (await policyOf("{}")).hostsOf("a")]).toEqual([
    ["pypi.org:443"],
    [],
    [],
  ]);
  expect(hosts.explain({ caller: "a", tool: "bash" })).toContain("reaches pypi.org:443 from commands");
  await expect(policyOf("everyone: { hosts: ['https://pypi.org'] }")).rejects.toThrow(/hosts/);
});

test("a caller opens the spaces of its list, else everyone's; those that all open are in every list", async () => {
  const policy = await policyOf(
    "callers: { a: { spaces: [shared, team] }, b: {}, c: { spaces: [shared] } }\neveryone: { spaces: [shared, news] }",
  );
  expect(["a", "b", "c", "other"].map((caller) => policy.spacesOf(caller))).toEqual([
    ["shared", "team"],
    ["shared", "news"],
    ["shared"],
    ["shared", "news"],
  ]);
  expect(policy.commonSpaces()).toEqual(["shared"]);
  const named = await policyOf("callers: { a: { spaces: [team] } }");
  expect([named.spacesOf("b"), named.commonSpaces()]).toEqual([[], []]);
  const silent = await policyOf("{}");
  expect([silent.spacesOf("a"), silent.commonSpaces()]).toEqual([undefined, undefined]);
  expect(policy.explain({ caller: "a", tool: "x" })).toContain("opens the space team of the knowledge base");
});
