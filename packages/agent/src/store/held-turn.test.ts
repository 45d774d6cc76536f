import { silentLogger } from "@rockbot/bus";
import { StoreUnavailableError } from "@rockbot/records";
import { expect, test } from "vitest";
import { holdTurn } from "./held-turn.ts";
import { createMemoryTurnStore } from "./memory-turn-store.ts";
import type { TurnStore } from "./turn-store.ts";

test("a turn that could not be begun, as the store went away behind its lease, keeps the session from nobody", async () => {
  await using store = createMemoryTurnStore();
  const flaky = new Proxy<TurnStore>(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name === "begin" || name === "leave") return () => Promise.reject(new StoreUnavailableError("The store is away"));
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  const session = { caller: "a", sessionId: "s" };
  const { signal } = new AbortController();
  const claim = { leaseMs: 100, maxWaiting: 1 };
  const deadline = performance.now() + 60_000;
  const options = { ...claim, session, turnId: "1", hasReadUntrusted: false, signal, deadline, storePatienceMs: 0, nextEnd: () => signal, log: silentLogger };
  await expect(holdTurn(flaky, options)).rejects.toMatchObject({ code: "unavailable" });

  await expect.poll(async () => (await store.take(session, { ...claim, turnId: "2", owner: "next" })).state).toBe("taken");
});
