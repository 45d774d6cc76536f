import { randomBytes } from "node:crypto";
import { sharedRedisUrl } from "@rockbot/testing";
import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { CallJournal } from "./call-journal.ts";
import type { CallRecord } from "./call-record.ts";
import { connectRedisJournalStore } from "./redis/index.ts";
import type { CallSearch } from "./search-calls.ts";
import { searchJournals } from "./search-journals.ts";

const url = await sharedRedisUrl();
type Limits = NonNullable<NonNullable<Parameters<typeof connectRedisJournalStore>[1]>["limits"]>;
const connect = (limits: Limits = {}, prefix = `test-${randomBytes(6).toString("hex")}`) =>
  connectRedisJournalStore(url, { prefix, limits });

/** Two callers that note calls on one clock, and what all may see of them: in this process, or in Redis. */
async function start(kind: "memory" | "Redis", { maxCalls, ...limits }: Limits & { readonly maxCalls?: number } = {}) {
  const stack = new AsyncDisposableStack();
  const store = kind === "memory" ? undefined : stack.use(await connect(limits));
  let now = Date.now();
  const clock = () => now++;
  const journals = ["gateway.0", "agent"].map((caller) =>
    stack.use(new CallJournal({ caller, store, clock, maxCalls })),
  );
  const [gateway, agent] = journals as [CallJournal, CallJournal];
  const settled = async () => {
    if (store !== undefined)
      await Promise.all(journals.flatMap((journal) => journal.here.map((notes) => journal.written(notes))));
  };
  const search = async (filter: Partial<CallSearch> = {}) => searchJournals(journals, { limit: 100, ...filter });
  const found = async (filter: Partial<CallSearch> = {}) =>
    (await search(filter)).calls.map(({ toolCallId }) => toolCallId);
  return { gateway, agent, settled, search, found, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const call = (toolCallId: string, more: object = {}) => ({ toolCallId, toolName: "echo", timeoutMs: 1_000, ...more });

describe.each(["memory", "Redis"] as const)("calls of all callers in %s", (kind) => {
  test("are found by what they were, whoever made them", async () => {
    await using system = await start(kind);
    const { gateway, agent, found } = system;
    gateway.asked(call("a1", { onBehalfOf: "ada", session: "s 1" })).note("answered");
    agent.asked(call("b2", { toolName: 'x"; <b>' })).note("failed", "rate_limited");
    agent.asked(call("b3", { parent: "a1" })).note("failed", "denied");
    agent.asked(call("Ünï code", { parent: "b3" })).note("answered");
    await system.settled();

    expect(await found()).toEqual(["Ünï code", "b3", "b2", "a1"]);
    expect(await found({ caller: "AD" })).toEqual(["a1"]);
    expect(await found({ caller: "gateway" })).toEqual(["a1"]);
    expect(await found({ tool: 'X"; <B' })).toEqual(["b2"]);
    expect(await found({ code: "limited" })).toEqual(["b2"]);
    expect(await found({ state: "failed" })).toEqual(["b3", "b2"]);
    expect(await found({ session: "s 1" })).toEqual(["a1"]);
    expect(await found({ session: "s" })).toEqual([]);
    expect(await found({ id: "b" })).toEqual(["b3", "b2"]);
    expect(await found({ id: "Ünï c" })).toEqual(["Ünï code"]);
    expect(await found({ parents: ["a1", "b3"] })).toEqual(["Ünï code", "b3"]);
  });

  test("are found while they have no end, whatever has been seen of them", async () => {
    await using system = await start(kind);
    const { gateway, agent, found } = system;
    gateway.asked(call("a1"));
    agent.asked(call("b2")).note("accepted");
    agent.asked(call("b3")).note("running");
    const ended = agent.asked(call("b4"));
    await system.settled();
    expect(await found({ state: "open" })).toEqual(["b4", "b3", "b2", "a1"]);
    ended.note("answered");
    await system.settled();
    expect(await found({ state: "open" })).toEqual(["b3", "b2", "a1"]);
  });

  test("come in pages, each once, also those of one moment, and while further ones are made", async () => {
    await using system = await start(kind);
    const at = Date.now();
    const steps = [{ step: "asked" as const, at }];
    for (let i = 0; i < 25; i++)
      system.agent.resumed({
        ...call(`id ${i % 10} ${i}`),
        caller: "agent",
        state: "asked",
        attempts: 1,
        deadlineAt: at,
        steps,
      });
    await system.settled();
    const seen: string[] = [];
    let page = await system.search({ limit: 7 });
    for (let pages = 1; ; pages++) {
      seen.push(...page.calls.map(({ toolCallId }) => toolCallId));
      if (page.next === undefined) break;
      expect(pages).toBeLessThan(10);
      system.gateway.asked(call(`new ${pages}`));
      await system.settled();
      page = await system.search({ limit: 7, from: page.next });
    }
    const old = seen.filter((id) => id.startsWith("id "));
    expect(old).toHaveLength(25);
    expect(new Set(old).size).toBe(25);
    expect(await system.found({ before: at })).toEqual([]);
    expect((await system.found({ before: at + 1, after: at - 1 })).length).toBe(25);
  });

  test("do not push out those of a caller that makes few", async () => {
    await using system = await start(kind, { calls: 60, ownCalls: 50, maxCalls: kind === "memory" ? 40 : 400 });
    for (let i = 0; i < 10; i++) system.gateway.asked(call(`few ${i}`, { onBehalfOf: "ada" })).note("answered");
    for (let i = 0; i < 300; i++) {
      system.gateway.asked(call(`many ${i}`, { onBehalfOf: "bob" })).note("answered");
      if (i % 50 === 49) await system.settled();
    }
    expect(await system.found({ caller: "ada" })).toHaveLength(10);
    const many = await system.found({ caller: "bob" });
    expect(many.slice(0, 3)).toEqual(["many 299", "many 298", "many 297"]);
    expect(many.length).toBeGreaterThan(30);
    expect(many.length).toBeLessThanOrEqual(120);
  });
});

test("Redis keeps no more calls and bytes than the limits say, and what it says of them agrees", async () => {
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  await using store = await connect({ calls: 1_000, ownCalls: 1_000, bytes: 40_000 }, prefix);
  await using journal = new CallJournal({ caller: "agent", store });
  await using other = new CallJournal({ caller: "other.3", store });
  const long = "x".repeat(3_000);
  for (let i = 0; i < 40; i++) {
    const small = other.asked(call(`small ${i}`, { parent: "p" }));
    const large = journal.asked(call(`large ${i}`, { session: long }));
    await Promise.all([journal.written(large), other.written(small)]);
    small.note("answered");
    large.note("answered");
    await Promise.all([journal.written(large), other.written(small)]);
  }
  await Promise.all([journal, other].map((each) => each[Symbol.asyncDispose]()));

  const all = await store.search({ limit: 1_000 });
  const large = all.calls.filter(({ caller }) => caller === "agent");
  expect(large.map(({ toolCallId }) => toolCallId).slice(0, 2)).toEqual(["large 39", "large 38"]);
  expect(large.length).toBeLessThan(12);
  expect(all.calls.length - large.length).toBeGreaterThan(10);
  expect((await store.search({ id: "large", limit: 1_000 })).calls).toHaveLength(large.length);
  expect((await store.readRecent("agent", 1_000)).length).toBe(large.length);
  expect((await store.search({ parents: ["p"], limit: 1_000 })).calls.length).toBe(all.calls.length - large.length);
});

const record = (toolCallId: string, at: number, more: Partial<CallRecord> = {}): CallRecord => ({
  ...call(toolCallId),
  caller: "agent",
  state: "answered",
  attempts: 1,
  deadlineAt: at,
  steps: [{ step: "asked", at }],
  ...more,
});

test("Redis gives pages in the order of starts, also where the calls of two callers lie in many segments and come late", async () => {
  await using store = await connect({ ownCalls: 100 });
  const begin = Date.now();
  const records = Array.from({ length: 90 }, (_, i) =>
    record(`call ${i}`, begin + ((i * 37) % 60), { caller: i % 3 === 0 ? "other.1" : "agent", parent: `p${i % 2}` }),
  );
  for (const caller of ["agent", "other.1"]) {
    const own = records.filter((each) => each.caller === caller);
    while (own.length > 0) await store.write(caller, own.splice(0, 4));
  }
  const order = (calls: readonly CallRecord[]) =>
    calls.map(({ steps, toolCallId, caller }) => [steps[0]?.at ?? 0, `${toolCallId} ${caller}`] as const);
  const sorted = (calls: readonly CallRecord[]) => order(calls).sort(([a, x], [b, y]) => b - a || (x < y ? 1 : -1));
  for (const [filter, meant] of [
    [{}, records],
    [{ caller: "OTHER" }, records.filter(({ caller }) => caller === "other.1")],
    [{ parents: ["p1"] }, records.filter(({ parent }) => parent === "p1")],
    [{ id: "call 1" }, records.filter(({ toolCallId }) => toolCallId.startsWith("call 1"))],
    [
      { before: begin + 40, after: begin + 10 },
      records.filter(({ deadlineAt }) => deadlineAt > begin + 10 && deadlineAt < begin + 40),
    ],
  ] as const) {
    const found: CallRecord[] = [];
    let from: CallSearch["from"];
    do {
      const page = await store.search({ ...filter, limit: 7, from });
      found.push(...page.calls);
      from = page.next;
    } while (from !== undefined);
    expect(order(found)).toEqual(sorted(meant));
  }
  expect(order(await store.readRecent("other.1", 5))).toEqual(
    sorted(records.filter(({ caller }) => caller === "other.1")).slice(0, 5),
  );
});

test("Redis forgets the oldest calls of who has too many, a twentieth at once, and those without an end last", async () => {
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  await using store = await connect({ ownCalls: 100 }, prefix);
  const begin = Date.now() - 1_000;
  await store.write("agent", [record("open", begin, { state: "asked" })]);
  for (let i = 0; i < 300; i++) {
    await store.write("agent", [record(`call ${i}`, begin + i)]);
    const { calls } = await store.search({ limit: 1_000 });
    if (i < 99) continue;
    expect(calls.length).toBeGreaterThanOrEqual(95);
    expect(calls.length).toBeLessThanOrEqual(100);
    const ended = calls.filter(({ state }) => state === "answered").map(({ toolCallId }) => toolCallId);
    expect(ended).toEqual(ended.map((_, age) => `call ${i - age}`));
  }
  expect(await store.read("agent", "call 0")).toBeUndefined();
  expect(await store.readOpen("agent")).toMatchObject([{ toolCallId: "open" }]);
  await store.write("agent", [record("open", begin)]);
  expect(await store.readOpen("agent")).toEqual([]);
  const redis = new Redis(url);
  const segments = await redis.keys(`${prefix}:{journal}:segment:*`);
  for (const key of await redis.keys(`${prefix}:*`)) expect([key, (await redis.pttl(key)) > 0]).toEqual([key, true]);
  redis.disconnect();
  expect(segments.length).toBeLessThanOrEqual(21);
});

test("open calls that the release before has noted are taken over, and its ended ones are read", async () => {
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  await using store = await connect({}, prefix);
  const redis = new Redis(url);
  const key = (name: string) => `${prefix}:{journal}:${name}:agent`;
  const open = {
    state: "asked",
    sent: { arguments: "{}", sessionId: null, depth: 0, hasReadUntrusted: false },
  } as const;
  const now = Date.now();
  const [written, noted, both, ended] = [
    record("written", now + 1, open),
    record("noted", now + 2, open),
    record("both", now + 3, { ...open, attempts: 2 }),
    record("ended", now + 4),
  ];
  const first = record("both", now + 3, { state: "failed" });
  for (const each of [written, first, ended]) await redis.hset(key("calls"), each.toolCallId, JSON.stringify(each));
  for (const each of [noted, both]) await redis.hset(key("ahead"), each.toolCallId, JSON.stringify(each));
  await redis.sadd(key("open"), written.toolCallId);
  for (let restarts = 0; restarts < 2; restarts++) {
    const found = await store.readOpen("agent");
    expect(found.toSorted((a, b) => a.deadlineAt - b.deadlineAt)).toEqual([written, noted, both]);
  }
  expect(await store.read("agent", "ended")).toEqual(ended);
  await store.write("agent", [{ ...written, state: "answered" }]);
  expect((await store.readOpen("agent")).map(({ toolCallId }) => toolCallId).sort()).toEqual(["both", "noted"]);
  redis.disconnect();
});

test("a call whose caller was killed between its note and its end is found as it was noted, and once it is taken up as it ended", async () => {
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  await using store = await connect({}, prefix);
  const killed = new CallJournal({ caller: "agent", store });
  const sent = { arguments: '{"secret":1}', sessionId: null, depth: 0, hasReadUntrusted: false };
  const secrets = { parent: "p", blob: "f".repeat(64), request: "hash", sent };
  expect(await killed.written(killed.asked(call("a", secrets)))).toBe(true);
  for (const name of ["blob", "request", "sent"])
    expect((await store.search({ limit: 10 })).calls[0]).not.toHaveProperty(name);
  expect((await store.search({ limit: 10 })).calls).toMatchObject([{ toolCallId: "a", state: "asked", parent: "p" }]);

  await using next = new CallJournal({ caller: "agent", store });
  for (const record of await store.readOpen("agent")) next.resumed(record).note("answered");
  await next[Symbol.asyncDispose]();
  for (const filter of [{}, { id: "a" }, { parents: ["p"] }])
    expect((await store.search({ limit: 10, ...filter })).calls).toMatchObject([
      { toolCallId: "a", state: "answered" },
    ]);
  await killed[Symbol.asyncDispose]();
});

test("while Redis is away the calls of this process are found, and the page says that others are missing", async () => {
  const away = { search: () => Promise.reject(new Error("away")), readKept: async () => undefined };
  await using journal = new CallJournal({ caller: "agent" });
  journal.asked(call("a"));
  expect(
    await searchJournals([{ here: journal.here, keptHere: () => undefined, shared: away }], { limit: 1 }),
  ).toMatchObject({
    calls: [{ toolCallId: "a" }],
    isPartial: true,
  });
});
