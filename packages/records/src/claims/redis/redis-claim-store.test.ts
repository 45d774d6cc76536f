import { randomBytes } from "node:crypto";
import { sharedRedisUrl } from "@rockbot/testing";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import {
  type ClaimKey,
  type ClaimOptions,
  type ClaimStore,
  RECORD_KEPT_MS,
  REPLY_KEPT_MS,
  UNSEEN_CANCEL_KEPT_MS,
} from "../claim-store.ts";
import { testClaimStore } from "../conformance.ts";
import { createMemoryClaimStore } from "../memory/memory-claim-store.ts";
import { connectRedisClaimStore } from "./redis-claim-store.ts";

const url = await sharedRedisUrl();
const uniquePrefix = () => `test-${randomBytes(6).toString("hex")}`;

testClaimStore("RedisClaimStore", () => connectRedisClaimStore(url, { prefix: uniquePrefix() }));

const key: ClaimKey = { caller: "agent", toolCallId: "call" };
const request: ClaimOptions = { owner: "me", requestHash: "request", leaseMs: 60_000 };

test("processes that use the same Redis and prefix see each other's claims", async () => {
  const prefix = uniquePrefix();
  await using one = await connectRedisClaimStore(url, { prefix });
  await using two = await connectRedisClaimStore(url, { prefix });
  await using stranger = await connectRedisClaimStore(url, { prefix: uniquePrefix() });
  const taken = await one.claim(key, request);
  expect(await two.claim(key, { ...request, owner: "other" })).toMatchObject({ state: "held", owner: "me" });
  expect(await stranger.look(key)).toBeUndefined();
  expect(await two.cancel(key)).toBe("claimed");
  expect(taken.state === "taken" && (await one.complete(taken.claim, Buffer.from("late")))).toBe(false);
});

test("a call goes to exactly one of many processes that claim it at the same time", async () => {
  const prefix = uniquePrefix();
  await using stack = new AsyncDisposableStack();
  const stores: ClaimStore[] = [];
  for (let index = 0; index < 4; index++) stores.push(stack.use(await connectRedisClaimStore(url, { prefix })));
  for (let round = 0; round < 50; round++) {
    const outcomes = await Promise.all(
      stores.map((store, index) =>
        store.claim({ ...key, toolCallId: `call-${round}` }, { ...request, owner: `process-${index}` }),
      ),
    );
    expect(outcomes.filter(({ state }) => state === "taken")).toHaveLength(1);
  }
});

test("the store was born before its first claim, and for all who use it at the same time", async () => {
  const prefix = uniquePrefix();
  await using one = await connectRedisClaimStore(url, { prefix });
  await using two = await connectRedisClaimStore(url, { prefix });
  await using redis = rawRedis();
  const bornAt = () => redis.client.hget(`${prefix}:{claims}:born`, "at");
  const born = await bornAt();
  for (const [index, store] of [one, two, one].entries()) {
    const before = performance.now();
    const { remembersSince } = (await store.claim({ ...key, toolCallId: String(index) }, request)) as {
      remembersSince: number;
    };
    expect(remembersSince).toBeLessThanOrEqual(before);
    expect(await bornAt()).toBe(born);
  }
});

test("a store that was emptied notes so by itself, so that a call that comes later is no lost one", async () => {
  const prefix = uniquePrefix();
  await using store = await connectRedisClaimStore(url, { prefix });
  await using redis = rawRedis();
  const emptiedAt = performance.now();
  await redis.client.del(`${prefix}:{claims}:born`);
  await expect.poll(() => redis.client.exists(`${prefix}:{claims}:born`), { timeout: 10_000 }).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 2)); // Redis tells whole milliseconds
  const before = performance.now();
  const { remembersSince } = (await store.claim(key, request)) as { remembersSince: number };
  expect(remembersSince).toBeLessThanOrEqual(before);
  expect(remembersSince).toBeGreaterThan(emptiedAt - 2);
});

test("records and replies in Redis expire, and only the marker stays", async () => {
  const prefix = uniquePrefix();
  await using store = await connectRedisClaimStore(url, { prefix });
  const taken = await store.claim(key, request);
  if (taken.state === "taken") await store.complete(taken.claim, Buffer.from("reply"));
  await store.claim({ ...key, toolCallId: "held" }, request);
  await store.claim({ ...key, toolCallId: "cancelled" }, request);
  await store.cancel({ ...key, toolCallId: "cancelled" });
  await store.cancel({ ...key, toolCallId: "unseen" });
  await using redis = rawRedis();
  const names = (await redis.client.keys(`${prefix}:*`)).sort();
  const left = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name.slice(prefix.length), await redis.client.pttl(name)] as const)),
  );
  const about = (ms: number) => expect.toSatisfy((value: number) => value <= ms && value > ms - 60_000);
  expect(left).toEqual({
    ":{claims}:5:agent:call": about(RECORD_KEPT_MS),
    ":{claims}:5:agent:cancelled": about(RECORD_KEPT_MS),
    ":{claims}:5:agent:held": about(RECORD_KEPT_MS),
    ":{claims}:5:agent:unseen": about(UNSEEN_CANCEL_KEPT_MS),
    ":{claims}:born": -1,
    ":{claims}:cancelled:agent": about(UNSEEN_CANCEL_KEPT_MS),
    ":{claims}:reply:5:agent:call": about(REPLY_KEPT_MS),
  });
});

test("Redis and memory give the same answers to the same operations", async () => {
  await using redis = await connectRedisClaimStore(url, { prefix: uniquePrefix() });
  await using memory = createMemoryClaimStore();
  const random = seededRandom(20_261_121);
  const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)] as T;
  for (let history = 0; history < 150; history++) {
    const one: ClaimKey = { caller: "agent", toolCallId: `history-${history}` };
    const steps: string[] = [];
    for (let step = 0; step < 12; step++) {
      const claim = { key: one, owner: pick(["one", "two"]), epoch: pick([1, 1, 2, 3]), requestHash: "same" };
      const options = {
        owner: claim.owner,
        requestHash: pick(["same", "same", "same", "other"]),
        leaseMs: pick([1, 60_000]),
      };
      const [name, run] = pick<readonly [string, (store: ClaimStore) => Promise<unknown>]>([
        [`claim ${JSON.stringify(options)}`, (store) => store.claim(one, options)],
        [`claim ${JSON.stringify(options)}`, (store) => store.claim(one, options)],
        [`claim ${JSON.stringify(options)}`, (store) => store.claim(one, options)],
        [`renew ${JSON.stringify(claim)} ${options.leaseMs}`, (store) => store.renew(claim, options.leaseMs)],
        [`complete ${JSON.stringify(claim)}`, (store) => store.complete(claim, Buffer.from(`reply ${step}`))],
        [`release ${JSON.stringify(claim)}`, (store) => store.release(claim)],
        ["look", (store) => store.look(one)],
        step > 8 ? ["cancel", (store) => store.cancel(one)] : ["look", (store) => store.look(one)],
      ]);
      steps.push(name);
      const answers = [await run(redis), await run(memory)].map(comparable);
      expect(answers[0], steps.join("\n")).toEqual(answers[1]);
      // Both clocks go on by themselves: a lease of 1 ms is waited out, a long one never ends here.
      if (options.leaseMs === 1) for (const store of [redis, memory]) await untilSettled(store, one);
    }
  }
});

/** Without what differs by design: times. */
function comparable(answer: unknown): unknown {
  if (typeof answer !== "object" || answer === null) return answer;
  const {
    remembersSince: _since,
    leaseLeftMs: _left,
    reply,
    ...rest
  } = answer as { remembersSince?: number; leaseLeftMs?: number; reply?: Uint8Array };
  return { ...rest, reply: reply && Buffer.from(reply).toString() };
}

/** Until a lease that is about to end has ended. */
async function untilSettled(store: ClaimStore, one: ClaimKey): Promise<void> {
  await expect
    .poll(
      async () => {
        const view = await store.look(one);
        return view?.state === "held" ? view.leaseLeftMs > 1_000 : true;
      },
      { interval: 1 },
    )
    .toBe(true);
}

/** @see mulberry32, Tommy Ettinger, public domain */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function rawRedis(): AsyncDisposable & { readonly client: Redis } {
  const client = new Redis(url);
  return {
    client,
    async [Symbol.asyncDispose]() {
      client.disconnect();
    },
  };
}
