import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { StoreUnavailableError } from "../store-unavailable-error.ts";
import {
  type Claim,
  type ClaimKey,
  type ClaimOptions,
  type ClaimStore,
  MAX_REPLY_BYTES,
  MAX_UNSEEN_CANCELS,
} from "./claim-store.ts";

const LONG_MS = 60_000;

/**
 * The promises of every claim store, as tests. `create` makes or connects one each time. Tests use keys of their own,
 * so that they do not meet in a store they share. The test file of a store is one call of this function.
 */
export function testClaimStore(name: string, create: () => Promise<ClaimStore>): void {
  describe(name, () => {
    test("gives a call to the first who claims it, and says to all others who holds it", async () => {
      await using store = await create();
      const key = unique();
      expect(await store.look(key)).toBeUndefined();
      const taken = await store.claim(key, by("one"));
      const claim = { key, owner: "one", epoch: 1, requestHash: "request" };
      expect(taken).toEqual({ state: "taken", claim, isTakenOver: false, remembersSince: expect.any(Number) });
      for (const outcome of [
        await store.claim(key, by("two")),
        await store.claim(key, by("one")),
        await store.look(key),
      ]) {
        expect(outcome).toEqual({ state: "held", owner: "one", leaseLeftMs: expect.any(Number) });
        const { leaseLeftMs } = outcome as { leaseLeftMs: number };
        expect(leaseLeftMs).toBeGreaterThan(LONG_MS / 2);
        expect(leaseLeftMs).toBeLessThanOrEqual(LONG_MS);
      }
    });

    test("gives a call to exactly one of a hundred who claim it at the same time", async () => {
      await using store = await create();
      for (let round = 0; round < 5; round++) {
        const key = unique();
        const owners = Array.from({ length: 100 }, (_, index) => `owner-${index}`);
        const outcomes = await Promise.all(owners.map((owner) => store.claim(key, by(owner))));
        const winners = outcomes.filter(({ state }) => state === "taken");
        expect(winners).toHaveLength(1);
        const [winner] = winners as { claim: Claim }[];
        const others = outcomes.filter(({ state }) => state !== "taken");
        for (const other of others) expect(other).toMatchObject({ state: "held", owner: winner?.claim.owner });
      }
    });

    test("keeps the reply of a call that is done, byte by byte", async () => {
      await using store = await create();
      const replies = [
        randomBytes(300),
        Buffer.alloc(0),
        Buffer.from([0, 255, 254, 13, 10, 36, 45, 49]),
        Buffer.from("héllo ✓"),
      ];
      for (const reply of replies) {
        const claim = await take(store);
        expect(await store.complete(claim, reply)).toBe(true);
        for (const outcome of [await store.claim(claim.key, by("two")), await store.look(claim.key)]) {
          expect(outcome?.state).toBe("done");
          expect(Buffer.from((outcome as { reply: Uint8Array }).reply).equals(reply)).toBe(true);
        }
      }
    });

    test("keeps the reply as it was, whatever becomes of the bytes given and taken", async () => {
      await using store = await create();
      const claim = await take(store);
      const bytes = Buffer.from("as it was");
      await store.complete(claim, bytes);
      bytes.fill(0);
      expect(await keptReply(store, claim.key)).toBe("as it was");
      const found = await store.look(claim.key);
      if (found?.state === "done") found.reply?.fill(0);
      expect(await keptReply(store, claim.key)).toBe("as it was");
    });

    test("remembers that a call is done although its reply is too large to keep", async () => {
      await using store = await create();
      const fits = await take(store);
      expect(await store.complete(fits, Buffer.alloc(MAX_REPLY_BYTES, 1))).toBe(true);
      expect((await keptReply(store, fits.key))?.length).toBe(MAX_REPLY_BYTES);
      const tooLarge = await take(store);
      expect(await store.complete(tooLarge, Buffer.alloc(MAX_REPLY_BYTES + 1, 1))).toBe(true);
      expect(await store.look(tooLarge.key)).toEqual({ state: "done", reply: undefined });
      expect(await store.claim(tooLarge.key, by("two"))).toEqual({ state: "done", reply: undefined });
    });

    test("completes a claim once: again is safe and changes nothing", async () => {
      await using store = await create();
      const claim = await take(store);
      expect(await store.complete(claim, Buffer.from("first"))).toBe(true);
      expect(await store.complete(claim, Buffer.from("second"))).toBe(true);
      expect(await keptReply(store, claim.key)).toBe("first");
      expect(await store.complete({ ...claim, owner: "two" }, Buffer.from("theirs"))).toBe(false);
      expect(await store.complete({ ...claim, epoch: 2 }, Buffer.from("later"))).toBe(false);
      expect(await store.renew(claim, LONG_MS)).toBe(false);
      expect(await store.release(claim)).toBe(false);
      expect(await keptReply(store, claim.key)).toBe("first");
    });

    test("forgets a claim that is released, and nobody's but the holder's", async () => {
      await using store = await create();
      const claim = await take(store);
      expect(await store.release({ ...claim, owner: "two" })).toBe(false);
      expect(await store.release({ ...claim, epoch: 2 })).toBe(false);
      expect(await store.release(claim)).toBe(true);
      expect(await store.look(claim.key)).toBeUndefined();
      expect(await store.release(claim)).toBe(false);
      expect(await store.claim(claim.key, by("two"))).toMatchObject({ state: "taken", isTakenOver: false });
    });

    test("takes a claim that it has lost from its holder again, who renews or completes it, and from nobody else then", async () => {
      await using store = await create();
      const lost = (key: ClaimKey): Claim => ({ key, owner: "one", epoch: 3, requestHash: "request" });
      const renewed = lost(unique());
      expect(await store.renew(renewed, LONG_MS)).toBe(true);
      expect(await store.claim(renewed.key, by("two"))).toMatchObject({ state: "held", owner: "one" });
      expect(await store.claim(renewed.key, by("two", { requestHash: "other" }))).toEqual({ state: "conflict" });
      expect(await store.complete(renewed, Buffer.from("renewed"))).toBe(true);
      const completed = lost(unique());
      expect(await store.complete(completed, Buffer.from("completed"))).toBe(true);
      expect(await keptReply(store, completed.key)).toBe("completed");
      expect(await store.claim(completed.key, by("two", { requestHash: "other" }))).toEqual({ state: "conflict" });
      for (const { key } of [renewed, completed])
        expect(await store.complete({ ...lost(key), owner: "two" }, Buffer.from("theirs"))).toBe(false);
      const cancelled = lost(unique());
      expect(await store.cancel(cancelled.key)).toBe("unclaimed");
      expect(await store.renew(cancelled, LONG_MS)).toBe(false);
      expect(await store.complete(cancelled, Buffer.from("cancelled"))).toBe(false);
    });

    test("remembers the newest of many calls of a caller that were cancelled unseen, and costs no other caller any", async () => {
      await using store = await create();
      const { caller } = unique();
      const other = unique();
      await store.cancel(other);
      for (let from = 0; from <= MAX_UNSEEN_CANCELS; from += 500) {
        await Promise.all(
          Array.from({ length: 500 }, (_, index) => store.cancel({ caller, toolCallId: `call-${from + index}` })),
        );
      }
      expect(await store.look({ caller, toolCallId: "call-0" })).toBeUndefined();
      expect(await store.claim({ caller, toolCallId: "call-1" }, by("one"))).toMatchObject({ state: "taken" });
      expect(await store.look({ caller, toolCallId: `call-${MAX_UNSEEN_CANCELS}` })).toEqual({ state: "cancelled" });
      expect(await store.look(other)).toEqual({ state: "cancelled" });
    });

    test("gives a call whose lease is over to the next who claims it, who is told; its holder before has lost it", async () => {
      await using store = await create();
      const first = await take(store, by("one", { leaseMs: 1 }));
      await untilLapsed(store, first.key);
      const second = await store.claim(first.key, by("two", { leaseMs: 1 }));
      expect(second).toMatchObject({ state: "taken", isTakenOver: true, claim: { owner: "two", epoch: 2 } });
      await untilLapsed(store, first.key);
      const third = await store.claim(first.key, by("one"));
      expect(third).toMatchObject({ state: "taken", isTakenOver: true, claim: { owner: "one", epoch: 3 } });
      for (const lost of [first, (second as { claim: Claim }).claim]) {
        expect(await store.renew(lost, LONG_MS)).toBe(false);
        expect(await store.release(lost)).toBe(false);
        expect(await store.complete(lost, Buffer.from("lost"))).toBe(false);
      }
      expect(await store.complete((third as { claim: Claim }).claim, Buffer.from("won"))).toBe(true);
      expect(await keptReply(store, first.key)).toBe("won");
    });

    test("lets a holder whose lease is over go on, as long as nobody has taken the call over", async () => {
      await using store = await create();
      const renewed = await take(store, by("one", { leaseMs: 1 }));
      await untilLapsed(store, renewed.key);
      expect(await store.renew(renewed, LONG_MS)).toBe(true);
      expect(await store.claim(renewed.key, by("two"))).toMatchObject({ state: "held", owner: "one" });
      const completed = await take(store, by("one", { leaseMs: 1 }));
      await untilLapsed(store, completed.key);
      expect(await store.complete(completed, Buffer.from("still"))).toBe(true);
      expect(await keptReply(store, completed.key)).toBe("still");
      const released = await take(store, by("one", { leaseMs: 1 }));
      await untilLapsed(store, released.key);
      expect(await store.release(released)).toBe(true);
      expect(await store.look(released.key)).toBeUndefined();
    });

    test("makes a lease hold from when it is renewed, longer or shorter", async () => {
      await using store = await create();
      const claim = await take(store, by("one", { leaseMs: 1_000 }));
      expect(await store.renew({ ...claim, owner: "two" }, 1)).toBe(false);
      expect(await store.renew({ ...claim, epoch: 2 }, 1)).toBe(false);
      expect(await store.renew(claim, LONG_MS)).toBe(true);
      expect(((await store.look(claim.key)) as { leaseLeftMs: number }).leaseLeftMs).toBeGreaterThan(LONG_MS / 2);
      expect(await store.renew(claim, 1)).toBe(true);
      await untilLapsed(store, claim.key);
    });

    test("never gives away a call that was cancelled before it was claimed", async () => {
      await using store = await create();
      const key = unique();
      expect(await store.cancel(key)).toBe("unclaimed");
      expect(await store.cancel(key)).toBe("cancelled");
      expect(await store.claim(key, by("one"))).toEqual({ state: "cancelled" });
      expect(await store.look(key)).toEqual({ state: "cancelled" });
    });

    test.each([
      ["that runs", LONG_MS],
      ["whose lease is over", 1],
    ])("takes a call %s from its holder when it is cancelled", async (_, leaseMs) => {
      await using store = await create();
      const claim = await take(store, by("one", { leaseMs }));
      if (leaseMs === 1) await untilLapsed(store, claim.key);
      expect(await store.cancel(claim.key)).toBe("claimed");
      expect(await store.complete(claim, Buffer.from("late"))).toBe(false);
      expect(await store.renew(claim, LONG_MS)).toBe(false);
      expect(await store.release(claim)).toBe(false);
      expect(await store.claim(claim.key, by("one", { requestHash: "other" }))).toEqual({ state: "cancelled" });
    });

    test("leaves a call done when it is cancelled afterwards", async () => {
      await using store = await create();
      const claim = await take(store);
      await store.complete(claim, Buffer.from("done"));
      expect(await store.cancel(claim.key)).toBe("done");
      expect(await keptReply(store, claim.key)).toBe("done");
    });

    test("refuses another request under an id that is taken, held or done or given up", async () => {
      await using store = await create();
      const held = await take(store);
      const done = await take(store);
      await store.complete(done, Buffer.from("done"));
      const lapsed = await take(store, by("one", { leaseMs: 1 }));
      await untilLapsed(store, lapsed.key);
      for (const { key } of [held, done, lapsed]) {
        expect(await store.claim(key, by("two", { requestHash: "other" }))).toEqual({ state: "conflict" });
      }
      expect(await store.claim(lapsed.key, by("two"))).toMatchObject({ state: "taken", isTakenOver: true });
    });

    test("keeps callers and ids apart, whatever characters they have", async () => {
      await using store = await create();
      const own = unique().caller;
      const parts = [
        "a",
        "a:b",
        "b:c",
        "c",
        "",
        '"',
        '","',
        "\\",
        "{",
        "}",
        "{}",
        "{claims}",
        "*",
        "\n",
        "\0",
        "born",
        "reply:",
        "__proto__",
        "é",
        "e\u0301",
        "\ud800",
        "\udc00",
        "\ufffd",
      ];
      const keys = parts.flatMap((caller) => parts.map((toolCallId) => ({ caller: `${own}${caller}`, toolCallId })));
      for (const key of keys) expect((await store.claim(key, by("one"))).state).toBe("taken");
      const [first, ...others] = keys;
      if (first === undefined) throw new Error("no keys");
      expect(await store.cancel(first)).toBe("claimed");
      expect(new Set((await Promise.all(others.map((key) => store.look(key)))).map((view) => view?.state))).toEqual(
        new Set(["held"]),
      );
    });

    test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("refuses a lease of %d ms", async (leaseMs) => {
      await using store = await create();
      const claim = await take(store);
      await expect(store.claim(unique(), by("one", { leaseMs }))).rejects.toThrow(RangeError);
      await expect(store.renew(claim, leaseMs)).rejects.toThrow(RangeError);
      expect(await store.look(claim.key)).toMatchObject({ state: "held" });
    });

    test("does nothing any more once it is closed, which it can be twice", async () => {
      const store = await create();
      const claim = await take(store);
      await store[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      const { key } = claim;
      const operations = [
        () => store.claim(key, by("two")),
        () => store.renew(claim, LONG_MS),
        () => store.complete(claim, Buffer.from("late")),
        () => store.release(claim),
        () => store.cancel(key),
        () => store.look(key),
      ];
      for (const operation of operations) await expect(operation()).rejects.toThrow(StoreUnavailableError);
    });
  });
}

function unique(): ClaimKey {
  return { caller: `agent-${randomBytes(4).toString("hex")}`, toolCallId: randomBytes(16).toString("hex") };
}

function by(owner: string, options: Partial<ClaimOptions> = {}): ClaimOptions {
  return { owner, requestHash: "request", leaseMs: LONG_MS, ...options };
}

async function take(store: ClaimStore, options = by("one")): Promise<Claim> {
  const outcome = await store.claim(unique(), options);
  if (outcome.state !== "taken") throw new Error(`a new call is ${outcome.state}`);
  return outcome.claim;
}

async function untilLapsed(store: ClaimStore, key: ClaimKey): Promise<void> {
  await expect.poll(async () => (await store.look(key))?.state, { interval: 2 }).toBe("lapsed");
}

async function keptReply(store: ClaimStore, key: ClaimKey): Promise<string | undefined> {
  const view = await store.look(key);
  return view?.state === "done" && view.reply !== undefined ? Buffer.from(view.reply).toString() : undefined;
}
