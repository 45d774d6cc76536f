import { sharedAmqpUrl, startOwnRedis, type TestRedis } from "@rockbot/testing";
import { expect, test } from "vitest";
import { countOutcomes, settleCall } from "./agent/settle-calls.ts";
import { startEffectService } from "./effects/start-effect-service.ts";
import { atScale, record } from "./figures.ts";
import { startRedisSwitch } from "./redis-switch.ts";
import { openScene } from "./scene.ts";

const CALLS = atScale(20, 200);
const POLL = { timeout: 30_000, interval: 100 };
const busUrl = await sharedAmqpUrl();

test("F19: no call that has had its effect has another when Sentinel gives its Redis over to a replica that lags, and its service dies", {
  timeout: 120_000,
}, async () => {
  const [master, replica, sentinel] = await Promise.all([
    startOwnRedis(),
    startOwnRedis(),
    startOwnRedis({ isSentinel: true }),
  ]);
  await using stack = new AsyncDisposableStack();
  for (const one of [master, replica, sentinel]) stack.use(one);
  await using redis = await startRedisSwitch(await master.directUrl());
  await follow(replica, master);
  await watch(sentinel, master);
  await using scene = await openScene(busUrl, { redisUrl: redis.url });
  const { caller, ledger } = scene;
  await using victim = await startEffectService({
    ...scene.service,
    concurrency: CALLS,
    killAt: "after effect",
    killCalls: CALLS + 1,
  }); // waits there for one more
  await caller.discovered();
  await expect.poll(() => replica.ctl("exists", `${scene.service.service}:{claims}:born`), POLL).toContain("1");

  // From here on the replica gets nothing.
  await replica.ctl("config", "set", "masterauth", "no longer");
  await master.ctl("client", "kill", "type", "replica");
  const calls = Array.from({ length: CALLS }, (_, index) =>
    settleCall(caller, scene.tool("effect"), { id: `effect-${index}` }, { timeoutMs: 60_000 }),
  );
  await expect.poll(async () => (await ledger.count("effect")).size, POLL).toBe(CALLS);
  await master.kill();
  await expect.poll(() => replica.ctl("role"), POLL).toContain("master");
  redis.turnTo(await replica.directUrl());
  await using _survivor = await startEffectService(scene.service);
  victim.kill("SIGKILL");

  const outcomes = countOutcomes(await Promise.all(calls));
  const doubled = [...(await ledger.count("effect")).values()].filter((count) => count > 1).length;
  await record({
    fault: "F19",
    done: `${CALLS} calls that have had their effect when Sentinel makes a replica the master that has none of their claims, and their service dies`,
    figures: { ...outcomes, "doubled effects": doubled },
  });
  expect(doubled).toBe(0);
  expect(outcomes).toEqual({ outcome_unknown: CALLS });
  const after = await settleCall(caller, scene.tool("effect"), { id: "after" }, { timeoutMs: 10_000 });
  expect(after.outcome).toBe("ok");
});

test("F19: a master that is cut off from its replicas grants no claim that the next one would not know of, if it is told how many it needs", {
  timeout: 60_000,
}, async () => {
  const [master, replica] = await Promise.all([startOwnRedis(), startOwnRedis()]);
  await using stack = new AsyncDisposableStack();
  for (const one of [master, replica]) stack.use(one);
  await using scene = await openScene(busUrl, { redisUrl: master.url });
  const { caller, ledger } = scene;
  await using _service = await startEffectService(scene.service);
  await caller.discovered();
  await follow(replica, master);
  await master.ctl("config", "set", "min-replicas-to-write", "1");
  await master.ctl("config", "set", "min-replicas-max-lag", "1");
  const call = (id: string, kind: "effect" | "repeat" = "effect") =>
    settleCall(caller, scene.tool(kind), { id }, { timeoutMs: 10_000 });
  await expect.poll(async () => (await call("together")).outcome, POLL).toBe("ok");

  await replica.pause();
  await expect.poll(async () => (await call(`soon ${performance.now()}`)).outcome, POLL).toBe("unavailable");
  const cutOff = await Promise.all(Array.from({ length: CALLS }, (_, index) => call(`cut off ${index}`)));
  expect(countOutcomes(cutOff)).toEqual({ unavailable: CALLS });
  expect((await call("harmless", "repeat")).outcome).toBe("ok");
  expect([...(await ledger.count("effect")).keys()].filter((id) => id.startsWith("cut off"))).toEqual([]);
  await replica.resume();
  await expect.poll(async () => (await call("together again")).outcome, POLL).toBe("ok");
  await record({
    fault: "F19",
    done: `${CALLS} calls while a master of Redis is cut off from the replica it needs`,
    figures: { unavailable: CALLS, effects: 0 },
  });
});

/**
 * Resolves once the one has all that the other has; it then takes the other's password, too, as one who may take its
 * place.
 */
async function follow(redis: TestRedis, master: TestRedis): Promise<void> {
  const { hostname, port, password } = new URL(await master.directUrl());
  await redis.ctl("acl", "setuser", "default", `>${password}`);
  await redis.ctl("config", "set", "masterauth", password);
  await redis.ctl("replicaof", hostname, port);
  await expect.poll(() => redis.ctl("info", "replication"), POLL).toContain("master_link_status:up");
}

async function watch(sentinel: TestRedis, master: TestRedis): Promise<void> {
  const { hostname, port, password } = new URL(await master.directUrl());
  await sentinel.ctl("sentinel", "monitor", "claims", hostname, port, "1");
  for (const setting of [
    ["auth-pass", password],
    ["down-after-milliseconds", "1500"],
    ["failover-timeout", "10000"],
  ]) {
    await sentinel.ctl("sentinel", "set", "claims", ...setting);
  }
  await expect.poll(() => sentinel.ctl("sentinel", "replicas", "claims"), POLL).toContain("slave");
}
