import { setTimeout as sleep } from "node:timers/promises";
import { connectRedisClaimStore } from "@rockbot/records/claims/redis";
import { sharedAmqpUrl, startOwnRedis } from "@rockbot/testing";
import { expect, test, vi } from "vitest";
import { countOutcomes, type SettledCall, settleCall } from "./agent/settle-calls.ts";
import type { LedgerFile } from "./effects/ledger-file.ts";
import { startEffectService } from "./effects/start-effect-service.ts";
import { atScale, record } from "./figures.ts";
import { openScene } from "./scene.ts";

const CALLS = 20;
/** The number of keys of all ages. */
const SWEPT = atScale(50, 500);
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
      Promise.all(
        Array.from({ length: CALLS }, (_, index) =>
          settleCall(caller, scene.tool(kind), { id: `${kind}-${when}-${index}` }, { timeoutMs: 10_000 }),
        ),
      );
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
  await expect
    .poll(() => settleCall(caller, scene.tool("effect"), { id: "resumed" }), { timeout: 10_000 })
    .toMatchObject({ outcome: "ok" });

  await redis.kill();
  const killed = await callAll("killed");
  expect(killed.outcomes).toEqual([all, all, { unavailable: CALLS }]);
  expect(killed.slowestMs).toBeLessThan(5_000);
  await redis.restart();
  await expect
    .poll(() => settleCall(caller, scene.tool("effect"), { id: "restarted" }), { timeout: 10_000 })
    .toMatchObject({ outcome: "ok" });
  expect((await callAll("after")).outcomes).toEqual([all, all, all]);

  await redis.ctl("config", "set", "maxmemory", "1");
  const full = await callAll("full");
  expect(full.outcomes).toEqual([all, all, { unavailable: CALLS }]);
  await redis.ctl("config", "set", "maxmemory", "0");
  await expect
    .poll(() => settleCall(caller, scene.tool("effect"), { id: "freed" }), { timeout: 10_000 })
    .toMatchObject({ outcome: "ok" });

  const effects = await ledger.count("effect");
  const refused = [...effects.keys()].filter((id) =>
    ["paused", "killed", "full"].some((when) => id.startsWith(`effect-${when}`)),
  );
  expect(refused).toEqual([]); // what was refused has not run
  expect([...effects].filter(([id, count]) => id.startsWith("effect-") && count > 1)).toEqual([]);
  const figures = (outcome: number, slowestMs: number) => ({
    lost: 0,
    "of effect unavailable": outcome,
    "others ok": 2 * CALLS,
    "doubled effects": 0,
    "slowest ms": Math.round(slowestMs),
  });
  await record({
    fault: "F19",
    done: `${3 * CALLS} calls while Redis is paused`,
    figures: figures(CALLS, paused.slowestMs),
  });
  await record({
    fault: "F19",
    done: `${3 * CALLS} calls while Redis is gone`,
    figures: figures(CALLS, killed.slowestMs),
  });
  await record({
    fault: "F19",
    done: `${3 * CALLS} calls while Redis has no memory left`,
    figures: figures(CALLS, full.slowestMs),
  });
});

/** How old calls are when Redis loses all it knew. */
const MAX_AGE_MS = 5_000;

test.concurrent(`F19: no call that has had its effect has another when Redis loses all it knew and its service dies, however old it is of ${MAX_AGE_MS} ms`, {
  timeout: 90_000,
}, async () => {
  await using redis = await startOwnRedis();
  await using scene = await openScene(busUrl, { redisUrl: redis.url });
  const { caller, ledger } = scene;
  await using victim = await startEffectService({
    ...scene.service,
    concurrency: SWEPT,
    killAt: "after effect",
    killCalls: SWEPT + 1,
  }); // waits there for one more
  await caller.discovered();
  const calls: Promise<SettledCall>[] = [];
  for (let index = 0; index < SWEPT; index++) {
    calls.push(settleCall(caller, scene.tool("effect"), { id: `effect-${index}` }, { timeoutMs: 30_000 }));
    await sleep(MAX_AGE_MS / SWEPT); // the age is what is tried
  }
  await untilEffects(ledger, SWEPT);
  await redis.ctl("flushall");
  await using _bystander = await connectRedisClaimStore(redis.url, { prefix: scene.service.service }); // as any other instance: the store is new from now on
  await using _survivor = await startEffectService(scene.service);
  victim.kill("SIGKILL");

  expect(countOutcomes(await Promise.all(calls))).toEqual({ outcome_unknown: SWEPT });
  const doubled = [...(await ledger.count("effect")).values()].filter((count) => count > 1).length;
  expect(doubled).toBe(0);
  await record({
    fault: "F19",
    done: `${SWEPT} calls that have had their effect in the last ${MAX_AGE_MS} ms, when Redis is emptied and their service dies`,
    figures: { outcome_unknown: SWEPT, "doubled effects": doubled },
  });
});

test.concurrent.each([
  ["keeps a log", { appendonly: true }],
  ["keeps none", { appendonly: false }],
])(
  "F19: calls that run while Redis is killed, and %s, have one effect, and each whose service lives its answer",
  { timeout: 90_000 },
  async (what, settings) => {
    await using redis = await startOwnRedis(settings);
    await using scene = await openScene(busUrl, { redisUrl: redis.url });
    const { caller, ledger } = scene;
    await using victim = await startEffectService({ ...scene.service, concurrency: CALLS });
    await caller.discovered();
    const call = (id: string, holdMs: number) =>
      settleCall(caller, scene.tool("effect"), { id, holdMs }, { timeoutMs: 30_000 });
    const calls = Array.from({ length: CALLS }, (_, index) =>
      call(`effect-${index}`, index % 2 === 0 ? 4_000 : 60_000),
    );
    await expect.poll(async () => (await ledger.count("effect")).size, { timeout: 10_000 }).toBe(CALLS);
    await redis.kill();
    await redis.restart();
    const [short, long] = [calls.filter((_, index) => index % 2 === 0), calls.filter((_, index) => index % 2 === 1)];
    expect(countOutcomes(await Promise.all(short))).toEqual({ ok: CALLS / 2 });
    await using _survivor = await startEffectService(scene.service);
    victim.kill("SIGKILL");

    expect(countOutcomes(await Promise.all(long))).toEqual({ outcome_unknown: CALLS / 2 });
    expect(Math.max(...(await ledger.count("effect")).values())).toBe(1);
    await record({
      fault: "F19",
      done: `${CALLS} calls that run when a Redis is killed that ${what}; the service of half of them dies then`,
      figures: { ok: CALLS / 2, outcome_unknown: CALLS / 2, "doubled effects": 0 },
    });
  },
);

async function untilEffects(ledger: LedgerFile, count: number): Promise<void> {
  await vi.waitFor(async () => expect((await ledger.count("effect")).size).toBe(count), { timeout: 20_000 });
}
