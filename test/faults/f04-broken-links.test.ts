import { setTimeout as sleep } from "node:timers/promises";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { sharedAmqpUrl, sharedRedisUrl, startTcpFaultProxy } from "@rockbot/testing";
import { expect, test } from "vitest";
import { brokenRules, summary } from "./effects/ledger.ts";
import { startEffectService } from "./effects/start-effect-service.ts";
import { atScale, record } from "./figures.ts";
import { startLoad } from "./load.ts";
import { openScene } from "./scene.ts";
import { spread } from "./spread.ts";

const PER_SECOND = 50;
const RESETS = atScale(3, 30);
const SILENCES = atScale(1, 3);
/** What the bus asks of the broker by default. */
const HEARTBEAT_MS = 5_000;
const [busUrl, redisUrl] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);

test(`F04: ${RESETS} resets of all connections of the callers and of one replica cost no call anything`, {
  timeout: 60_000 + RESETS * 10_000,
}, async () => {
  await using proxy = await startTcpFaultProxy(busUrl);
  const throughProxy = proxy.through(busUrl);
  await using scene = await openScene(busUrl, { redisUrl, callerUrl: throughProxy });
  await using _cut = await startEffectService({ ...scene.service, busUrl: throughProxy });
  await using _whole = await startEffectService(scene.service);
  await using load = await startLoad(scene, { perSecond: PER_SECOND, deadlineMs: 20_000, kind: "effect", callers: 4 });
  const recoveries: number[] = [];
  for (let reset = 0; reset < RESETS; reset++) {
    await sleep(300); // the load runs undisturbed
    const cutAt = performance.now();
    proxy.cutAll();
    await expect.poll(() => load.firstAnswerAfter(cutAt + 5), { timeout: 10_000, interval: 5 }).toBeDefined();
    recoveries.push((load.firstAnswerAfter(cutAt + 5) ?? Number.NaN) - cutAt);
  }

  const report = await load.stop();
  await record({
    fault: "F04",
    done: `${report.asked} calls at ${PER_SECOND}/s over ${RESETS} resets of all connections of the callers and one of two replicas`,
    figures: { ...summary(report), ...spread("first answer after", recoveries) },
  });
  expect(brokenRules(report)).toEqual([]);
  expect(report).toMatchObject({ failed: {}, repeated: [], answered: report.asked });
});

test(`F04: a connection that stays open and goes silent is given up, at once if calls are out, by its heartbeat if not, and no call is lost: ${SILENCES} times`, {
  timeout: 60_000 + SILENCES * 40_000,
}, async () => {
  await using proxy = await startTcpFaultProxy(busUrl);
  await using scene = await openScene(busUrl, { redisUrl, callerUrl: proxy.through(busUrl) });
  await using _service = await startEffectService(scene.service);
  await using idleProxy = await startTcpFaultProxy(busUrl);
  await using idle = await connectBus(idleProxy.through(busUrl), { name: "idle" });
  await using load = await startLoad(scene, { perSecond: PER_SECOND, deadlineMs: 40_000, kind: "effect", callers: 16 });
  const untilNoticed = async (isReady: () => boolean, withinMs: number) => {
    const start = performance.now();
    await expect.poll(isReady, { timeout: withinMs, interval: 10 }).toBe(false);
    return performance.now() - start;
  };
  const [busyMs, idleMs]: [number[], number[]] = [[], []];
  for (let silence = 0; silence < SILENCES; silence++) {
    await sleep(500); // the load runs undisturbed
    proxy.setSilent(true);
    idleProxy.setSilent(true);
    const noticingIdle = untilNoticed(() => idle.isReady, 4 * HEARTBEAT_MS);
    busyMs.push(await untilNoticed(() => scene.bus.isReady, 2 * HEARTBEAT_MS));
    proxy.setSilent(false);
    await expect.poll(() => scene.bus.isReady, { timeout: 10_000 }).toBe(true);
    idleMs.push(await noticingIdle);
    idleProxy.setSilent(false);
    await expect.poll(() => idle.isReady, { timeout: 10_000 }).toBe(true);
  }

  const report = await load.stop();
  await record({
    fault: "F04",
    done: `${report.asked} calls at ${PER_SECOND}/s over ${SILENCES} times that the callers' connections go silent without an end`,
    figures: {
      ...summary(report),
      "noticed under load, slowest ms": Math.round(Math.max(...busyMs)),
      "noticed idle, slowest ms": Math.round(Math.max(...idleMs)),
    },
  });
  expect(brokenRules(report)).toEqual([]);
  expect(report).toMatchObject({ failed: {}, repeated: [], answered: report.asked });
});
