import { startOwnBroker, startOwnRedis, startTcpFaultProxy } from "@rockbot/testing";
import { expect, test } from "vitest";
import { seededRandom } from "../broker/seeded-random.ts";
import { brokenRules, summary } from "./effects/ledger.ts";
import { keepEffectService } from "./effects/start-effect-service.ts";
import { atScale, record, seed } from "./figures.ts";
import { startLoad } from "./load.ts";
import { type Fault, planFaults, playFaults } from "./nemesis.ts";
import { openScene } from "./scene.ts";

const STEPS = atScale(4, 20);
const PER_SECOND = 50;

test(`${STEPS} random faults, one after the other, lose no call, and none with effects runs twice: ROCKBOT_TEST_SEED=${seed}`, {
  timeout: 30_000 * (STEPS + 1),
}, async () => {
  await using broker = await startOwnBroker();
  await using redis = await startOwnRedis();
  await using proxy = await startTcpFaultProxy(broker.url);
  await using scene = await openScene(broker.url, { redisUrl: redis.url });
  // One replica is behind the proxy, the other is not.
  await using one = await keepEffectService({ ...scene.service, busUrl: proxy.through(broker.url) });
  await using other = await keepEffectService(scene.service);
  const ready = () => expect.poll(() => scene.bus.isReady, { timeout: 30_000 }).toBe(true);
  const nothing = async () => {};
  const faults: Fault[] = [
    { name: "broker paused", begin: () => broker.pause(), end: () => broker.resume().then(ready) },
    { name: "broker killed", begin: () => broker.kill(), end: () => broker.restart().then(ready) },
    { name: "redis paused", begin: () => redis.pause(), end: () => redis.resume() },
    { name: "redis killed", begin: () => redis.kill(), end: () => redis.restart() },
    { name: "connections reset", begin: async () => proxy.cutAll(), end: nothing },
    { name: "connections silent", begin: async () => proxy.setSilent(true), end: async () => proxy.setSilent(false) },
    { name: "connections slow", begin: async () => proxy.setDelay(100), end: async () => proxy.setDelay(0) },
    { name: "one service killed", begin: async () => one.kill(), end: nothing },
    { name: "the other service killed", begin: async () => other.kill(), end: nothing },
  ];
  const plan = planFaults(seededRandom(seed), {
    faults: faults.map(({ name }) => name),
    steps: STEPS,
    maxWaitMs: 1_000,
    maxDurationMs: 3_000,
  });
  console.log(JSON.stringify({ seed, plan }));

  await using load = await startLoad(scene, { perSecond: PER_SECOND, deadlineMs: 40_000, kind: "effect" });
  await playFaults(plan, faults);
  const report = await load.stop();
  await record({
    fault: "random",
    done: `${report.asked} calls at ${PER_SECOND}/s over ${STEPS} random faults`,
    figures: summary(report),
  });
  expect(brokenRules(report)).toEqual([]);
  expect(report.repeated).toEqual([]);
  // A call is refused before it starts, or what became of it is unknown: nothing else.
  expect(Object.keys(report.failed).filter((code) => code !== "unavailable" && code !== "outcome_unknown")).toEqual([]);
});
