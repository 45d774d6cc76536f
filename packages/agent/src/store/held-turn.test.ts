import { silentLogger } from "@rockbot/bus";
import { StoreUnavailableError } from "@rockbot/records";
import { expect, test } from "vitest";
import { holdTurn } from "./held-turn.ts";
import { createMemoryTurnStore } from "./memory-turn-store.ts";
import type { TurnStore } from "./turn-store.ts";

test("a turn that the store began, and whose asker never learned it, keeps the session from nobody for long", async () => {
  await using store = createMemoryTurnStore();
  const away = (_answer?: unknown) => Promise.reject(new StoreUnavailableError("The store is away"));
  const flaky = new Proxy<TurnStore>(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name === "leave") return away;
      if (name === "take") return async (...args: Parameters<TurnStore["take"]>) => away(await store.take(...args));
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  const session = { caller: "a", sessionId: "s" };
  const { signal } = new AbortController();
  const claim = { leaseMs: 100, maxWaiting: 1 };
  const record = { nonce: "ab", startedAt: 1, hasReadUntrusted: false, answers: [], results: new Map() };
  const deadline = performance.now() + 60_000;
  const options = { ...claim, session, turnId: "1", hasReadUntrusted: false, signal, deadline, storePatienceMs: 0, nextEnd: () => signal, log: silentLogger };
  await expect(holdTurn(flaky, options)).rejects.toMatchObject({ code: "unavailable" });

  await expect.poll(async () => (await store.take(session, { ...claim, turnId: "2", owner: "next", record })).state).toBe("taken");
});
