import { expect, onTestFinished, test, vi } from "vitest";
import { testTurnStore } from "../conformance.ts";
import type { TurnRecord } from "../turn-store.ts";
import { createMemoryTurnStore } from "./memory-turn-store.ts";

const record: TurnRecord = { nonce: "ab", startedAt: 1, hasReadUntrusted: false, answers: [], results: new Map() };

testTurnStore("MemoryTurnStore", async (options) => {
  const store = createMemoryTurnStore(options);
  return { store, other: store, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
});

test("the session that was used longest ago gives way, unless a turn of it runs", async () => {
  await using store = createMemoryTurnStore({ maxSessions: 2 });
  const claim = { turnId: "t", owner: "o", leaseMs: 60_000, maxWaiting: 1, record };
  await store.take({ caller: "a", sessionId: "runs" }, claim);
  await store.note({ caller: "a", sessionId: "idle" }, { role: "user", content: "x", at: 1 });
  await store.note({ caller: "a", sessionId: "new" }, { role: "user", content: "x", at: 1 });
  expect(await store.take({ caller: "a", sessionId: "runs" }, { ...claim, owner: "p" })).toMatchObject({
    state: "waiting",
  });
  expect(await store.history({ caller: "a", sessionId: "idle" })).toEqual([]);
});

const MIB = 1024 * 1024;
const keyOf = (sessionId: string) => ({ caller: "a", sessionId });
const said = (length: number) => ({ role: "user", content: "x".repeat(length), at: 1 }) as const;

test("beyond its bytes the sessions that were used longest ago give way, and one with a turn stays", async () => {
  await using store = createMemoryTurnStore({ maxBytes: 8 * MIB });
  await store.note(keyOf("runs"), said(MIB));
  await store.take(keyOf("runs"), { turnId: "t", owner: "o", leaseMs: 60_000, maxWaiting: 1, record });
  for (const idle of ["1", "2", "3", "4"]) await store.note(keyOf(idle), said(MIB));
  const kept = await Promise.all(
    ["runs", "1", "2", "3", "4"].map(async (id) => (await store.history(keyOf(id))).length),
  );
  expect(kept).toEqual([1, 0, 0, 1, 1]);
});

test("one caller's sessions, however many and large, push out none of another's, and its running ones let no further turn of it begin", async () => {
  await using store = createMemoryTurnStore({ maxSessions: 8, maxBytes: 8 * MIB });
  const own = { caller: "b", sessionId: "own" };
  await store.note(own, said(1));
  for (let index = 0; index < 12; index++) await store.note(keyOf(`many ${index}`), said(1));
  for (let index = 0; index < 6; index++) await store.note(keyOf(`large ${index}`), said(MIB));
  expect(await store.history(own)).toHaveLength(1);
  const claimOf = (turnId: string) => ({
    turnId,
    owner: turnId,
    leaseMs: 60_000,
    maxWaiting: 1,
    record: { ...record, nonce: "x".repeat(1.5 * MIB) },
  });
  for (const turn of ["1", "2", "3"])
    expect(await store.take(keyOf(turn), claimOf(turn))).toMatchObject({ state: "taken" });
  expect(await store.take(keyOf("4"), claimOf("4"))).toEqual({ state: "no room", most: 8 * MIB });
  expect(await store.take(own, claimOf("own"))).toMatchObject({ state: "taken", history: [said(1)] });
});

test("a session keeps no more than some megabytes of messages, results and events, and the newest of each", async () => {
  await using store = createMemoryTurnStore();
  for (let index = 0; index < 8; index++) await store.note(keyOf("s"), { ...said(MIB), at: index });
  expect((await store.history(keyOf("s"))).map(({ at }) => at)).toEqual([7]);
  await store.note(keyOf("s"), said(3 * MIB));
  expect((await store.history(keyOf("s"))).map(({ content }) => content.length)).toEqual([3 * MIB]);
  const event = { at: new Date().toISOString(), kind: "text", text: "x".repeat(16_000) } as const;
  await store.addEvents(keyOf("s"), "t", Array(1_000).fill(event), 0);
  const { events, last } = await store.events(keyOf("s"), 0, 1_000);
  expect(last).toBe(1_000);
  expect(events.length).toBeLessThan(150);
  expect(events.at(-1)?.sequence).toBe(1_000);
});

test("events of a session that nobody uses any more are forgotten in time", async () => {
  vi.useFakeTimers({ toFake: ["Date", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  await using store = createMemoryTurnStore({ maxBytes: 3 * MIB });
  const event = { at: new Date().toISOString(), kind: "text", text: "x".repeat(500_000) } as const;
  await store.note(keyOf("idle"), said(1));
  await store.addEvents(keyOf("idle"), "t", [event, event], 0);
  vi.advanceTimersByTime(16 * 60_000);
  await store.note(keyOf("used"), said(MIB)); // no room for both, with the events
  expect(await store.history(keyOf("idle"))).toHaveLength(1);
});
