import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { startOwnRedis, type TestRedis } from "@rockbot/testing";
import { expect, test } from "vitest";
import { StoreUnavailableError } from "../../store-unavailable-error.ts";
import type { Claim, ClaimKey, ClaimOptions, ClaimStore } from "../claim-store.ts";
import { connectRedisClaimStore } from "./redis-claim-store.ts";

/** What an operation may take at most, and how much later it may be noticed. */
const ANSWER_MS = 500;
const GRACE_MS = 5_000; // what a busy machine may add
const BACK = { timeout: 10_000, interval: 20 };

const request: ClaimOptions = { owner: "me", requestHash: "request", leaseMs: 60_000 };
const newKey = (): ClaimKey => ({ caller: "agent", toolCallId: randomBytes(16).toString("hex") });

test("while Redis is dead every operation fails at once, and works again when it is back, with all it knew", async () => {
  await using redis = await startOwnRedis();
  await using store = await connectRedisClaimStore(redis.url);
  const claim = await take(store);
  const done = await take(store);
  await store.complete(done, Buffer.from("kept"));
  await redis.kill();
  await failsInTime(store, claim);
  await redis.restart();
  await worksAgain(store);
  expect(await store.look(claim.key)).toMatchObject({ state: "held", owner: "me" });
  expect(await store.look(done.key)).toMatchObject({ state: "done", reply: expect.any(Uint8Array) });
});

test.each([
  ["whose operator does not vouch for it remembers nothing of before", { keepsAll: false }, { appendonly: true }, true],
  [
    "without a log remembers nothing of before, whatever it has saved",
    { keepsAll: false },
    { appendonly: false },
    true,
  ],
  ["whose operator vouches for it is the store that it was", { keepsAll: true }, { appendonly: true }, false],
])("a Redis that was started again and %s", async (_, options, settings, isNewStore) => {
  await using redis = await startOwnRedis(settings);
  await using store = await connectRedisClaimStore(redis.url, options);
  const saved = await take(store);
  await redis.ctl("save");
  const startedAt = performance.now();
  await redis.kill();
  await redis.restart();
  await worksAgain(store);
  expect(await store.look(saved.key)).toMatchObject({ state: "held" });
  const sinceMs = performance.now() - startedAt;
  await using other = await connectRedisClaimStore(redis.url, options);
  for (const one of [store, other]) expect((await memoryOf(one)) < sinceMs).toBe(isNewStore);
  const before = await memoryOf(store);
  await sleep(20);
  expect(await memoryOf(other)).toBeGreaterThan(before); // new once, for both
});

test("a store that was a replica meanwhile remembers nothing of before, and one that is takes no claims", async () => {
  await using master = await startOwnRedis();
  await using redis = await startOwnRedis();
  await using _masters = await connectRedisClaimStore(master.url);
  await using before = await connectRedisClaimStore(redis.url);
  await ageBy(redis, 3_600_000);
  expect(await memoryOf(before)).toBeGreaterThan(3_000_000);
  await follow(redis, master);
  // Its own look at the marker is refused, too, and then it connects anew for a moment.
  await expect.poll(() => memoryOf(before).catch(String)).toMatch(/refuses \(READONLY/);
  await using during = await connectRedisClaimStore(redis.url, { connectTimeoutMs: 500 });
  await expect(memoryOf(during)).rejects.toThrow(
    /it is a replica, which takes no writes: give the address that leads to the master/,
  );
  await ageBy(master, 3_600_000); // as it was itself once the master
  await redis.ctl("replicaof", "no", "one");
  await worksAgain(during);
  expect(await memoryOf(during)).toBeLessThan(60_000);
});

test("a Redis that drops what it should keep when its memory is full is believed to remember nothing", async () => {
  await using redis = await startOwnRedis();
  await redis.ctl("config", "set", "maxmemory-policy", "allkeys-lru");
  await using unbounded = await connectRedisClaimStore(redis.url);
  await ageBy(redis, 3_600_000);
  expect(await memoryOf(unbounded)).toBeGreaterThan(3_000_000); // it never drops any
  await redis.ctl("config", "set", "maxmemory", "100mb");
  await using store = await connectRedisClaimStore(redis.url);
  expect(await memoryOf(store)).toBe(Number.NEGATIVE_INFINITY);
});

test("while Redis stands still every operation fails in time, and works again when it goes on", async () => {
  await using redis = await startOwnRedis();
  await using store = await connectRedisClaimStore(redis.url);
  const claim = await take(store);
  await redis.pause();
  await failsInTime(store, claim); // on a connection that is open
  await failsInTime(store, claim); // while there is none
  await redis.resume();
  await worksAgain(store);
});

test("a store closes in time although its Redis stands still", async () => {
  await using redis = await startOwnRedis();
  const store = await connectRedisClaimStore(redis.url);
  await redis.pause();
  const unanswered = store.look(newKey()).catch((error: unknown) => error);
  const limit = sleep(2_500, "late");
  expect(await Promise.race([store[Symbol.asyncDispose](), limit])).toBeUndefined();
  expect(await unanswered).toBeInstanceOf(StoreUnavailableError);
  await redis.resume();
});

test.each([false, true])(
  "an emptied Redis is a new store, also if its operator vouches for it (%s), and takes in the claims of before that are completed",
  async (keepsAll) => {
    await using redis = await startOwnRedis();
    await using store = await connectRedisClaimStore(redis.url, { keepsAll });
    const before = await take(store);
    await ageBy(redis, 3_600_000);
    expect(await memoryOf(store)).toBeGreaterThan(3_000_000);
    await redis.kill();
    await redis.restart({ empty: true });
    await worksAgain(store);
    expect(await memoryOf(store)).toBeLessThan(60_000);
    expect(await store.complete(before, Buffer.from("kept all the same"))).toBe(true);
    expect(await store.claim(before.key, request)).toMatchObject({ state: "done", reply: expect.any(Uint8Array) });

    await ageBy(redis, 3_600_000);
    await redis.ctl("flushall"); // emptied under the open connection
    expect(await memoryOf(store)).toBeLessThan(60_000);
  },
);

test("a Redis whose memory is full refuses claims in words, and takes them again when there is room", async () => {
  await using redis = await startOwnRedis();
  await using store = await connectRedisClaimStore(redis.url);
  const claim = await take(store);
  await redis.ctl("config", "set", "maxmemory", "1");
  await expect(store.claim(newKey(), request)).rejects.toThrow(StoreUnavailableError);
  await expect(store.claim(newKey(), request)).rejects.toThrow(/refuses \(OOM/);
  expect(await store.look(claim.key)).toMatchObject({ state: "held" });
  await redis.ctl("config", "set", "maxmemory", "0");
  expect(await store.complete(claim, Buffer.from("done"))).toBe(true);
});

test("a connection that is lost under load fails what is out, and nothing is sent twice", async () => {
  await using redis = await startOwnRedis();
  await using store = await connectRedisClaimStore(redis.url);
  const taken: ClaimKey[] = [];
  const failed: ClaimKey[] = [];
  /** Claims one call after another, until one fails. */
  const load = async () => {
    while (true) {
      const key = newKey();
      try {
        expect(await store.claim(key, request)).toMatchObject({ state: "taken", isTakenOver: false });
        taken.push(key);
      } catch (error) {
        expect(error).toBeInstanceOf(StoreUnavailableError);
        failed.push(key);
        return;
      }
    }
  };
  const loads = Promise.all(Array.from({ length: 50 }, load));
  await redis.ctl("client", "kill", "type", "normal");
  await loads;
  await worksAgain(store);
  for (const key of taken) expect(await store.look(key)).toMatchObject({ state: "held", owner: "me" });
  // What has failed may have been done, once.
  for (const key of failed) expect(["held", undefined]).toContain((await store.look(key))?.state);
});

test("an answer that lies unread while this process is busy is not taken for a missing one", async () => {
  await using redis = await startOwnRedis();
  await using store = await connectRedisClaimStore(redis.url);
  const claims = Array.from({ length: 20 }, () => store.claim(newKey(), request));
  await new Promise((resolve) => setImmediate(resolve)); // they are sent
  const until = performance.now() + ANSWER_MS + 200;
  while (performance.now() < until); // the event loop stands still
  for (const outcome of await Promise.all(claims)) expect(outcome).toMatchObject({ state: "taken" });
});

test("a store whose Redis is away at first is there, fails in time, and works once it is back", async () => {
  await using redis = await startOwnRedis();
  await redis.kill();
  await using store = await connectRedisClaimStore(redis.url, { connectTimeoutMs: 100 });
  await expect(store.look(newKey())).rejects.toThrow(
    /there is no connection to redis:.*ECONN(REFUSED|RESET)|there is no connection to redis:.*closed/,
  );
  await redis.restart();
  await worksAgain(store);
});

test("a store says once what its Redis cannot promise, and when it is away and back", async () => {
  const lines: string[] = [];
  const note = (_fields: object, message: string) => void lines.push(message);
  await using redis = await startOwnRedis({ appendonly: false });
  await redis.ctl("config", "set", "maxmemory-policy", "allkeys-lru");
  await redis.ctl("config", "set", "maxmemory", "100mb");
  await using store = await connectRedisClaimStore(redis.url, {
    log: { debug: note, info: note, warn: note, error: note },
  });
  await redis.kill();
  await expect.poll(() => lines.filter((line) => line.startsWith("no connection")).length, BACK).toBeGreaterThan(0);
  await redis.restart();
  await worksAgain(store);
  expect(lines.filter((line) => line.includes("append-only file"))).toHaveLength(1);
  expect(lines.filter((line) => line.includes("maxmemory-policy"))).toHaveLength(1);
  expect(lines.filter((line) => line === "connected to Redis")).toHaveLength(2);
});

test("a Redis with a log is told nothing about it", async () => {
  const lines: string[] = [];
  const note = (_fields: object, message: string) => void lines.push(message);
  await using redis = await startOwnRedis();
  await using _store = await connectRedisClaimStore(redis.url, {
    log: { debug: note, info: note, warn: note, error: note },
  });
  expect(lines).toEqual(["connected to Redis"]);
});

test.each([
  ["a wrong password", { password: "wrong-secret" }, /refuses \(WRONGPASS/],
  ["no password", { password: "" }, /refuses \(NOAUTH/],
  ["a database that does not exist", { pathname: "/99" }, /refuses \(ERR DB index/],
  ["a user without the rights", { username: "reader" }, /refuses \(NOPERM/],
  ["a user who may not ask what Redis it is", { username: "stranger" }, /refuses \(NOPERM.*info/],
])("connecting with %s is refused at once, and the password is never said", async (_, change, message) => {
  await using redis = await startOwnRedis();
  const url = new URL(redis.url);
  await redis.ctl("acl", "setuser", "reader", "on", `>${url.password}`, "~*", "+@read", "+info");
  await redis.ctl("acl", "setuser", "stranger", "on", `>${url.password}`, "~*", "+@all", "-info");
  Object.assign(url, change);
  const lines: string[] = [];
  const note = (fields: object, text: string) => void lines.push(`${JSON.stringify(fields)} ${text}`);
  const refusal: unknown = await connectRedisClaimStore(url.href, {
    connectTimeoutMs: 10_000,
    log: { debug: note, info: note, warn: note, error: note },
  }).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(refusal).toBeInstanceOf(StoreUnavailableError);
  expect((refusal as Error).message).toMatch(message);
  const said = [...lines, (refusal as Error).stack].join("\n");
  expect(said).not.toContain("secret");
  expect(said).not.toContain(new URL(redis.url).password);
});

test("a password that has changed at Redis and in the address's file holds from the next connection on", async () => {
  await using redis = await startOwnRedis();
  const url = new URL(redis.url);
  await redis.ctl("acl", "setuser", "claims", "on", `>${url.password}`, "~*", "+@all");
  url.username = "claims";
  await using store = await connectRedisClaimStore(() => url.href);
  await take(store);
  await redis.ctl("acl", "setuser", "claims", "resetpass", ">another-password");
  url.password = "another-password";
  await redis.ctl("client", "kill", "user", "claims");
  await expect.poll(() => take(store).then(() => "works", String), BACK).toBe("works");
});

test("a user with no more rights than the store needs can use it", async () => {
  await using redis = await startOwnRedis();
  const url = new URL(redis.url);
  const hashes = ["+hmget", "+hget", "+hset", "+hdel"];
  const sets = ["+zadd", "+zrem", "+zrange", "+zremrangebyscore"];
  const commands = ["+eval", "+evalsha", "+info", "+time", "+get", "+set", "+del", "+pexpire", ...hashes, ...sets];
  await redis.ctl("acl", "setuser", "claims", "on", `>${url.password}`, "~rockbot:{claims}:*", ...commands);
  url.username = "claims";
  const lines: string[] = [];
  const note = (_fields: object, message: string) => void lines.push(message);
  await using store = await connectRedisClaimStore(url.href, {
    log: { debug: note, info: note, warn: note, error: note },
  });
  const claim = await take(store);
  expect(await store.renew(claim, 60_000)).toBe(true);
  expect(await store.complete(claim, Buffer.from("done"))).toBe(true);
  expect(await store.look(claim.key)).toMatchObject({ state: "done" });
  expect(await store.release(await take(store))).toBe(true);
  expect(await store.cancel(newKey())).toBe("unclaimed");
  expect(lines).toEqual(["connected to Redis"]);
});

async function take(store: ClaimStore): Promise<Claim> {
  const outcome = await store.claim(newKey(), request);
  if (outcome.state !== "taken") throw new Error(`a new call is ${outcome.state}`);
  return outcome.claim;
}

/** For how long the store says to have forgotten nothing. */
async function memoryOf(store: ClaimStore): Promise<number> {
  const { remembersSince } = (await store.claim(newKey(), request)) as { remembersSince: number };
  return performance.now() - remembersSince;
}

/** As if it had been used for the first time so much earlier. */
async function ageBy(redis: TestRedis, ms: number): Promise<void> {
  await redis.ctl("hset", "rockbot:{claims}:born", "at", String(Date.now() - ms));
}

/** Resolves once the one has all that the other has, and none of its own. */
async function follow(redis: TestRedis, master: TestRedis): Promise<void> {
  const { hostname, port, password } = new URL(await master.directUrl());
  await redis.ctl("config", "set", "masterauth", password);
  await redis.ctl("replicaof", hostname, port);
  await expect.poll(() => redis.ctl("info", "replication"), BACK).toContain("master_link_status:up");
}

/** Each operation fails with the typed error, no later than a timer of the same length that runs beside it. */
async function failsInTime(store: ClaimStore, claim: Claim): Promise<void> {
  const { key } = claim;
  const operations: (() => Promise<unknown>)[] = [
    () => store.claim(newKey(), request),
    () => store.renew(claim, 60_000),
    () => store.complete(claim, Buffer.from("reply")),
    () => store.release(claim),
    () => store.cancel(key),
    () => store.look(key),
  ];
  await Promise.all(
    operations.map(async (operation) => {
      const limit = sleep(ANSWER_MS).then(() => performance.now());
      const failure = await operation().then(
        () => undefined,
        (error: unknown) => error,
      );
      const endedAt = performance.now();
      expect(failure).toBeInstanceOf(StoreUnavailableError);
      expect(endedAt).toBeLessThan((await limit) + GRACE_MS);
    }),
  );
}

async function worksAgain(store: ClaimStore): Promise<void> {
  const key = newKey();
  await expect.poll(() => store.look(key).then(() => "works", String), BACK).toBe("works");
}
