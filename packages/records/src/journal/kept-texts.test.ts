import { randomBytes } from "node:crypto";
import { registerSecret } from "@rockbot/base/redaction";
import { sharedRedisUrl } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { CallJournal } from "./call-journal.ts";
import { KeptInMemory } from "./kept-texts.ts";
import { connectRedisJournalStore } from "./redis/index.ts";
import { readKept } from "./search-journals.ts";

const url = await sharedRedisUrl();
const SECRET = "a-secret-of-this-process-1234";
registerSecret(SECRET);

/** A journal that keeps the texts of `kept`, and what operators of another process read of it. */
async function start(kind: "memory" | "Redis", { bytes = 1_000, forMs = 60_000, limits = {} } = {}) {
  const stack = new AsyncDisposableStack();
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  const store = kind === "memory" ? undefined : stack.use(await connectRedisJournalStore(url, { prefix, limits }));
  const keep = (tool: string) => (tool === "kept" ? { bytes, forMs } : undefined);
  const journal = stack.use(new CallJournal({ caller: "agent", store, keep }));
  const reader = stack.use(new CallJournal({ caller: "gateway", store }));
  const call = async (toolCallId: string, args: string, result?: string, toolName = "kept") => {
    const notes = journal.asked({ toolCallId, toolName, timeoutMs: 1_000, args });
    const stored = async () =>
      (await store?.readRecent("agent", 100))?.find((record) => record.toolCallId === toolCallId);
    if (store !== undefined) await expect.poll(stored).toBeDefined();
    if (result === undefined) return;
    journal.gave(notes, result);
    notes.note("answered");
    if (store !== undefined) await journal.written(notes);
  };
  const read = (toolCallId: string) =>
    readKept(kind === "memory" ? [journal] : [reader], { caller: "agent", toolCallId });
  const search = async () => (await (store?.search({ limit: 100 }) ?? { calls: await journal.recent(100) })).calls;
  return { journal, call, read, search, store, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe.each(["memory", "Redis"] as const)("texts of calls in %s", (kind) => {
  test("are kept of the tools that the rule names, and no others; of those there are a hash and the size", async () => {
    await using system = await start(kind);
    await system.call("a", '{"q":1}', "the result");
    await system.call("b", '{"q":1}', "the result", "other");
    await system.call("open", '{"q":2}');

    expect(await system.read("a")).toMatchObject({ arguments: '{"q":1}', result: "the result", cut: [] });
    expect(await system.read("open")).toMatchObject({ arguments: '{"q":2}' });
    expect(await system.read("b")).toBeUndefined();
    const [open, b, a] = (await system.search()).toSorted((x, y) => (x.toolCallId < y.toolCallId ? 1 : -1));
    expect(JSON.stringify([a, b])).not.toMatch(/the result|\\"q\\"/);
    expect(a).toMatchObject({
      given: { bytes: 7 },
      gave: { bytes: 10, hash: expect.stringMatching(/^[0-9a-f]{16}$/) },
    });
    expect(b?.given).toEqual(a?.given);
    expect(open?.given?.hash).not.toBe(a?.given?.hash);
  });

  test("have other hashes in calls of another caller or of an operator, so that nobody finds them out by guesses", async () => {
    await using system = await start(kind);
    const hashes = ([who, onBehalfOf, operator]: readonly [string, string, string?]) => {
      const asked = { toolCallId: who, toolName: "kept", timeoutMs: 1_000, args: "the guess", onBehalfOf, operator };
      const notes = system.journal.asked(asked);
      system.journal.gave(notes, "the guess");
      return [notes.record.given?.hash, notes.record.gave?.hash];
    };
    const speakers = [
      ["a", "researcher"],
      ["b", "writer"],
      ["c", "researcher", "ops"],
      ["d", "researcher", "other"],
    ] as const;
    const [researcher, ...others] = speakers.map(hashes);

    expect(new Set([researcher, ...others].flat()).size).toBe(speakers.length);
    expect(hashes(["e", "researcher"])).toEqual(researcher);
  });

  test("have no secrets, also where one lies over the cut, and are no longer than the rule says", async () => {
    await using system = await start(kind, { bytes: 50 });
    const likely = randomBytes(32).toString("hex");
    await system.call("a", JSON.stringify({ key: SECRET }), `${"€".repeat(14)} ${SECRET} and what follows`);
    await system.call("b", likely, "y".repeat(10_000_000));
    const [a, b] = [await system.read("a"), await system.read("b")];
    expect(a).toMatchObject({ arguments: '{"key":"[redacted]"}', cut: ["result"], redacted: ["arguments", "result"] });
    expect(a?.result).toMatch(/^€{14} \[redac/);
    expect(b).toMatchObject({
      arguments: "[64 characters that may be a secret]",
      redacted: ["arguments"],
      cut: ["result"],
    });
    expect(Buffer.byteLength(b?.result ?? "")).toBe(50);
  });

  test("are forgotten when their time is over", async () => {
    await using system = await start(kind, { forMs: 150 });
    await system.call("a", "{}", "result");
    expect(await system.read("a")).toMatchObject({ result: "result" });
    await expect.poll(() => system.read("a"), { timeout: 10_000, interval: 50 }).toBeUndefined();
  });
});

test("in memory the caller that has most loses its oldest texts", () => {
  const kept = new KeptInMemory(() => 0, 10_000);
  const texts = (result: string) => ({ result, cut: [], redacted: [], until: 1 });
  kept.set("few", "ada", texts("x".repeat(500)));
  for (let i = 0; i < 20; i++) kept.set(`many ${i}`, "bob", texts("x".repeat(1_000)));
  kept.close();
  expect(kept.get("few")).toBeDefined();
  expect([kept.get("many 0"), kept.get("many 19")]).toEqual([undefined, texts("x".repeat(1_000))]);
});

test("in Redis texts count among what all journals take: they go with their calls, and leave nothing behind", async () => {
  await using system = await start("Redis", { bytes: 4_000, forMs: 60_000, limits: { bytes: 50_000 } });
  for (let i = 0; i < 30; i++) await system.call(`call ${i}`, "{}", "x".repeat(4_000));
  const left = (await system.search()).map(({ toolCallId }) => toolCallId);
  expect(left.length).toBeLessThan(12);
  expect(await system.read("call 29")).toBeDefined();
  expect(await system.read("call 0")).toBeUndefined();
  expect(await system.read(left.at(-1) ?? "")).toBeDefined();
});
