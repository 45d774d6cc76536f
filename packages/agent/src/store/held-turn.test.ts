import { silentLogger } from "@rockbot/bus";
import { StoreUnavailableError } from "@rockbot/records";
import { expect, test } from "vitest";
import { said } from "../test-model.ts";
import { HeldTurn, holdTurn } from "./held-turn.ts";
import { createMemoryTurnStore } from "./memory/memory-turn-store.ts";
import type { StoredAnswer, TurnClaim, TurnStore } from "./turn-store.ts";

const session = { caller: "a", sessionId: "s" };
const { signal } = new AbortController();
const record = { nonce: "ab", startedAt: 1, hasReadUntrusted: false, answers: [], results: new Map() };

test("a store that comes back without the last of a turn gets it back, and the turn goes on", async () => {
  await using before = createMemoryTurnStore();
  await using after = createMemoryTurnStore();
  let target: TurnStore = before;
  let claim: TurnClaim | undefined;
  const store = new Proxy<TurnStore>(before, {
    get(_, name) {
      const member: unknown = Reflect.get(target, name);
      if (name !== "take") return typeof member === "function" ? member.bind(target) : member;
      return (...args: Parameters<TurnStore["take"]>) => {
        [, claim] = args;
        return target.take(...args);
      };
    },
  });
  const deadline = performance.now() + 60_000;
  const options = {
    leaseMs: 60_000,
    maxWaiting: 1,
    session,
    turnId: "1",
    hasReadUntrusted: false,
    signal,
    deadline,
    storePatienceMs: 0,
    nextEnd: () => signal,
  };
  await using held = (await holdTurn(store, { ...options, log: silentLogger })) as HeldTurn;
  expect(held).toBeInstanceOf(HeldTurn);
  const [one, two, three] = [said("one"), said("two"), said("three")] as [StoredAnswer, StoredAnswer, StoredAnswer];
  await held.addAnswer(one);
  await held.addAnswer(two);
  await held.keepResult("call", { content: "done", isError: false, isUntrusted: false });

  const taken = claim as TurnClaim;
  const { fence } = (await after.take(session, taken)) as { fence: number };
  await after.addAnswer(session, { turnId: "1", owner: taken.owner, fence }, 0, one);
  target = after;
  await held.addAnswer(three);

  expect(await after.take(session, taken)).toMatchObject({
    state: "taken",
    record: {
      answers: [one, two, three],
      results: new Map([["call", { content: "done", isError: false, isUntrusted: false }]]),
    },
  });
});

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
  const claim = { leaseMs: 100, maxWaiting: 1 };
  const deadline = performance.now() + 60_000;
  const options = {
    ...claim,
    session,
    turnId: "1",
    hasReadUntrusted: false,
    signal,
    deadline,
    storePatienceMs: 0,
    nextEnd: () => signal,
    log: silentLogger,
  };
  await expect(holdTurn(flaky, options)).rejects.toMatchObject({ code: "unavailable" });

  await expect
    .poll(async () => (await store.take(session, { ...claim, turnId: "2", owner: "next", record })).state)
    .toBe("taken");
});
