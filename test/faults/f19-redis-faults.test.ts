import { sharedAmqpUrl, startOwnRedis } from "@rockbot/testing";
import { expect, test } from "vitest";
import { record } from "./figures.ts";
import { openScene } from "./scene.ts";
import { countOutcomes, settleCall } from "./settle-calls.ts";
import { startEffectService } from "./start-effect-service.ts";

const CALLS = 20;
const busUrl = await sharedAmqpUrl();

test.concurrent("F19: while Redis is paused, killed or full what has effects is refused in time and the rest runs, and afterwards all runs again, once", {
  timeout: 90_000,
}, async () => {
  await using redis = await startOwnRedis();
  await using scene = await openScene(busUrl, { redisUrl: redis.url });
  const { caller, ledger } = scene;
  await using _service = await startEffectService(scene.service);
  await caller.discovered();
  const callAll = async (when: string) => {
    const call = (kind: "read" | "repeat" | "effect") =>
      Promise.all(Array.from({ length: CALLS }, (_, index) => settleCall(caller, scene.tool(kind), { id: `${kind}-${when}-${index}` }, { timeoutMs: 10_000 })));
    const [read, repeat, effect] = await Promise.all([call("read"), call("repeat"), call("effect")]);
    return {
      outcomes: [countOutcomes(read), countOutcomes(repeat), countOutcomes(effect)],
      slowestMs: Math.max(...[...read, ...repeat, ...effect].map(({ ms }) => ms)),
    };
  };
  const all = { ok: CALLS };

  expect((await callAll("before")).outcomes).toEqual([all, all, all]);
  await redis.pause();
  const paused = await callAll("paused");
  expect(paused.outcomes).toEqual([all, all, { unavailable: CALLS }]);
  expect(paused.slowestMs).toBeLessThan(5_000);
  await redis.resume();
  await expect.poll(() => settleCall(caller, scene.tool("effect"), { id: "resumed" }), { timeout: 10_000 }).toMatchObject({ outcome: "ok" });

  await redis.kill();
  const killed = await callAll("killed");
  expect(killed.outcomes).toEqual([all, all, { unavailable: CALLS }]);
  expect(killed.slowestMs).toBeLessThan(5_000);
  await redis.restart();
  await expect.poll(() => settleCall(caller, scene.tool("effect"), { id: "restarted" }), { timeout: 10_000 }).toMatchObject({ outcome: "ok" });
  expect((await callAll("after")).outcomes).toEqual([all, all, all]);

  await redis.ctl("config", "set", "maxmemory", "1");
  const full = await callAll("full");
  expect(full.outcomes).toEqual([all, all, { unavailable: CALLS }]);
  await redis.ctl("config", "set", "maxmemory", "0");
  await expect.poll(() => settleCall(caller, scene.tool("effect"), { id: "freed" }), { timeout: 10_000 }).toMatchObject({ outcome: "ok" });

  const effects = await ledger.count("effect");
  const refused = [...effects.keys()].filter((id) => ["paused", "killed", "full"].some((when) => id.startsWith(`effect-${when}`)));
  expect(refused).toEqual([]); // what was refused has not run
  expect([...effects].filter(([id, count]) => id.startsWith("effect-") && count > 1)).toEqual([]);
  const figures = (outcome: number, slowestMs: number) => ({
    lost: 0,
    "of effect unavailable": outcome,
    "others ok": 2 * CALLS,
    "doubled effects": 0,
    "slowest ms": Math.round(slowestMs),
  });
  await record({ fault: "F19", done: `${3 * CALLS} calls while Redis is paused`, figures: figures(CALLS, paused.slowestMs) });
  await record({ fault: "F19", done: `${3 * CALLS} calls while Redis is gone`, figures: figures(CALLS, killed.slowestMs) });
  await record({ fault: "F19", done: `${3 * CALLS} calls while Redis has no memory left`, figures: figures(CALLS, full.slowestMs) });
});

test.concurrent("F19: calls that were begun before Redis lost all it knew are not run again by another service", { timeout: 90_000 }, async () => {
  await using redis = await startOwnRedis();
  await using scene = await openScene(busUrl, { redisUrl: redis.url });
  const { caller, ledger } = scene;
  await using victim = await startEffectService({ ...scene.service, killAt: "after effect", killCalls: CALLS + 1 }); // waits there for one more
  await caller.discovered();
  const calls = Array.from({ length: CALLS }, (_, index) => settleCall(caller, scene.tool("effect"), { id: `effect-${index}` }, { timeoutMs: 30_000 }));
  await expect.poll(async () => (await ledger.count("effect")).size, { timeout: 10_000 }).toBe(CALLS);
  await new Promise((resolve) => setTimeout(resolve, 3_500)); // callers' clocks count whole seconds, and two are allowed between clocks
  await redis.kill();
  await redis.restart({ empty: true });
  await using _survivor = await startEffectService(scene.service);
  victim.kill("SIGKILL");

  expect(countOutcomes(await Promise.all(calls))).toEqual({ outcome_unknown: CALLS });
  expect([...(await ledger.count("effect")).values()].every((count) => count === 1)).toBe(true);
  await record({
    fault: "F19",
    done: `${CALLS} calls that have had their effect when Redis comes back empty and their service dies`,
    figures: { outcome_unknown: CALLS, "doubled effects": 0 },
  });
});
