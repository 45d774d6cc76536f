import { randomBytes } from "node:crypto";
import { sharedRedisUrl } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { CallJournal } from "./call-journal.ts";
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
    await using system = await start(kind, { calls: 60, ownCalls: 50, maxCalls: 40 });
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
