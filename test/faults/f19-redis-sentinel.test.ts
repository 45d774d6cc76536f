import { sharedAmqpUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { settleCall, tally } from "./agent/settle-calls.ts";
import { startEffectService } from "./effects/start-effect-service.ts";
import { atScale, record } from "./figures.ts";
import { startWatchedRedis } from "./redis-sentinels.ts";
import { openScene } from "./scene.ts";

const busUrl = await sharedAmqpUrl();
/** Between the beginnings of two calls. */
const EVERY_MS = 25;
const AFTER = atScale(100, 1_000);

test("F19: calls that run while the master is killed end, none has two effects, and the service finds the new master by the Sentinels", {
  timeout: 120_000,
}, async () => {
  await using redis = await startWatchedRedis();
  await using scene = await openScene(busUrl, { redisUrl: redis.url });
  const { caller, ledger } = scene;
  await using _service = await startEffectService(scene.service);
  await caller.discovered();
  const calls: ReturnType<typeof settleCall>[] = [];
  const call = () => settleCall(caller, scene.tool("effect"), { id: `effect-${calls.length}` }, { timeoutMs: 20_000 });
  const load = setInterval(() => calls.push(call()), EVERY_MS);
  using _load = { [Symbol.dispose]: () => clearInterval(load) };

  await expect.poll(() => calls.length).toBeGreaterThan(20);
  const failoverMs = await redis.failOver();
  await expect
    .poll(
      async () =>
        (await settleCall(caller, scene.tool("effect"), { id: `probe-${performance.now()}` }, { timeoutMs: 5_000 }))
          .outcome,
      { timeout: 30_000 },
    )
    .toBe("ok");
  const before = calls.length;
  await expect.poll(() => calls.length, { timeout: 60_000 }).toBeGreaterThan(before + AFTER);
  clearInterval(load);

  const settled = await Promise.all(calls);
  const figures = tally(settled, await ledger.count("effect"));
  await record({
    fault: "F19",
    done: `${settled.length} calls, 40 a second, while the master of three Redis is killed and three Sentinels make a replica the master`,
    figures: { ...figures, "failover ms": Math.round(failoverMs) },
  });
  expect(figures).toMatchObject({ lost: 0, "doubled effects": 0, crossed: 0, late: 0 });
  expect(Object.keys(figures).sort()).toEqual(expect.arrayContaining(["ok"]));
  expect(settled.slice(before).every(({ outcome }) => outcome === "ok")).toBe(true);
  const effects = await ledger.count("effect");
  expect(settled.filter(({ id, outcome }) => outcome === "ok" && effects.get(id) !== 1)).toEqual([]);
});
