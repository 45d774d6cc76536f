import { expect, test } from "vitest";
import { testTurnStore } from "./conformance.ts";
import { createMemoryTurnStore } from "./memory-turn-store.ts";
import type { TurnRecord } from "./turn-store.ts";

const record: TurnRecord = { nonce: "ab", startedAt: 1, hasReadUntrusted: false, answers: [], results: new Map() };

testTurnStore("MemoryTurnStore", async () => {
  const store = createMemoryTurnStore();
  return { store, other: store, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
});

test("the session that was used longest ago gives way, unless a turn of it runs", async () => {
  await using store = createMemoryTurnStore({ maxSessions: 2 });
  const claim = { turnId: "t", owner: "o", leaseMs: 60_000, maxWaiting: 1, record };
  await store.take({ caller: "a", sessionId: "runs" }, claim);
  await store.note({ caller: "a", sessionId: "idle" }, { role: "user", content: "x", at: 1 });
  await store.note({ caller: "a", sessionId: "new" }, { role: "user", content: "x", at: 1 });
  expect(await store.take({ caller: "a", sessionId: "runs" }, { ...claim, owner: "p" })).toMatchObject({ state: "waiting" });
  expect(await store.history({ caller: "a", sessionId: "idle" })).toEqual([]);
});
