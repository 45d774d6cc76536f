import { connectRedisClaimStore } from "@rockbot/records/claims/redis";
import { connectRedisJournalStore } from "@rockbot/records/journal/redis";
import { connectRedisLeaseStore } from "@rockbot/records/leases/redis";
import { connectRedisRateStore } from "@rockbot/records/rates/redis";
import { startOwnRedis } from "@rockbot/testing";
import { expect, test } from "vitest";
import { record } from "./figures.ts";

const POLL = { timeout: 20_000, interval: 50 };
/** What it has to read from its log: for some seconds. */
const KEYS = 20_000;
const KEY_LOAD_DELAY_US = 200;

test("F19: a Redis that loads its data, follows another or is full is told by claims, journal and leases in words, rates count by themselves, and all go on", {
  timeout: 60_000,
}, async () => {
  const [redis, master] = await Promise.all([startOwnRedis({ keyLoadDelayUs: KEY_LOAD_DELAY_US }), startOwnRedis()]);
  await using stack = new AsyncDisposableStack();
  stack.use(redis);
  stack.use(master);
  const options = { connectTimeoutMs: 1_000 };
  const claims = stack.use(await connectRedisClaimStore(redis.url, options));
  const journal = stack.use(await connectRedisJournalStore(redis.url, options));
  const leases = stack.use(await connectRedisLeaseStore(redis.url, options));
  const rates = stack.use(await connectRedisRateStore(redis.url, options));
  let calls = 0;
  const note = {
    toolCallId: "call",
    toolName: "tool",
    caller: "me",
    state: "asked",
    attempts: 1,
    deadlineAt: Date.now(),
    steps: [],
  } as const;
  /** What each says of one operation: its outcome, or the text that its caller gets. */
  const all = async () => {
    const key = { caller: "agent", toolCallId: `call-${calls++}` };
    const said = (work: Promise<unknown>, ok: string) => work.then(() => ok, String);
    return {
      claims: await said(claims.claim(key, { owner: "me", requestHash: "request", leaseMs: 60_000 }), "taken"),
      journal: await said(journal.write("me", [note]), "written"),
      leases: await said(leases.hold("lease", { owner: "me", leaseMs: 60_000 }), "held"),
      rates: await said(rates.take([{ key: "calls", amount: 1_000_000, perMs: 1_000, cost: 1 }]), "counted"),
    };
  };
  const well = { claims: "taken", journal: "written", leases: "held", rates: "counted" };
  const refuse = (why: RegExp) => ({
    claims: expect.stringMatching(new RegExp(`^StoreUnavailableError: Cannot take a claim: .*(${why.source})`)),
    journal: expect.stringMatching(new RegExp(`^StoreUnavailableError: Cannot note calls: .*(${why.source})`)),
    leases: expect.stringMatching(new RegExp(`^StoreUnavailableError: Cannot hold a lease: .*(${why.source})`)),
    rates: "counted",
  });
  await expect.poll(all, POLL).toEqual(well);

  await redis.ctl("config", "set", "maxmemory", "1");
  expect(await all()).toEqual(refuse(/refuses \(OOM command not allowed/));
  await redis.ctl("config", "set", "maxmemory", "0");
  await expect.poll(all, POLL).toEqual(well);

  const said: Awaited<ReturnType<typeof all>>[] = [];
  const haveSaidLoading = async () => {
    said.push(await all());
    return (["claims", "journal", "leases"] as const).every((store) =>
      said.some((one) => one[store].includes("LOADING Redis is loading")),
    );
  };
  await redis.ctl("eval", `for i = 1, ${KEYS} do redis.call('SET', 'key' .. i, i) end`, "0");
  await redis.kill();
  const restarted = redis.restart();
  await expect.poll(haveSaidLoading, POLL).toBe(true);
  expect(said.every(({ rates: counted }) => counted === "counted")).toBe(true);
  await restarted;
  await expect.poll(all, POLL).toEqual(well);

  const { hostname, port, password } = new URL(await master.directUrl());
  await redis.ctl("config", "set", "masterauth", password);
  await redis.ctl("replicaof", hostname, port);
  await expect
    .poll(all, POLL)
    .toEqual(refuse(/it is a replica, which takes no writes: give the address that leads to the master/));
  await redis.ctl("replicaof", "no", "one");
  await expect.poll(all, POLL).toEqual(well);
  await record({
    fault: "F19",
    done: "claims, journal, leases and rates while Redis is full, loads, or follows another",
    figures: { refused: 9, "counted here": 3 },
  });
});
