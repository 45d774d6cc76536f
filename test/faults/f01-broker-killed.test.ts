import { setTimeout as sleep } from "node:timers/promises";
import { sharedRedisUrl, startOwnBroker } from "@rockbot/testing";
import { expect, test } from "vitest";
import { brokenRules, summary } from "./effects/ledger.ts";
import { startEffectService } from "./effects/start-effect-service.ts";
import { atScale, record } from "./figures.ts";
import { startLoad } from "./load.ts";
import { openScene } from "./scene.ts";
import { spread } from "./spread.ts";

const KILLS = atScale(1, 50);
/** The soak makes so many, at least; the tests as many as come. */
const CALLS = atScale(0, 100_000);
const PER_SECOND = atScale(50, 200);
/** Besides the time that the broker takes to come back, in which calls are made as well. */
const UNDISTURBED_MS = 2_000;
const redisUrl = await sharedRedisUrl();

test(`F01: every call is answered once, with one effect, while the broker is killed and restarted ${KILLS} times under ${PER_SECOND} calls a second`, {
  timeout: 160_000 * KILLS + 1_000 * (CALLS / PER_SECOND),
}, async () => {
  await using broker = await startOwnBroker();
  await using scene = await openScene(broker.url, { redisUrl });
  await using _one = await startEffectService(scene.service);
  await using _other = await startEffectService(scene.service);
  await using load = await startLoad(scene, { perSecond: PER_SECOND, deadlineMs: 40_000, kind: "effect", callers: 40 });
  const recoveries: number[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(UNDISTURBED_MS);
    await broker.kill();
    await broker.restart();
    const accepting = performance.now();
    await expect.poll(() => load.firstAnswerAfter(accepting), { timeout: 20_000, interval: 10 }).toBeDefined();
    recoveries.push((load.firstAnswerAfter(accepting) ?? Number.NaN) - accepting);
  }
  await expect.poll(() => load.asked, { timeout: 1_000 * (CALLS / PER_SECOND + 10) }).toBeGreaterThanOrEqual(CALLS);
  await sleep(UNDISTURBED_MS);

  const report = await load.stop();
  await record({
    fault: "F01",
    done: `${report.asked} calls at ${PER_SECOND}/s over ${KILLS} kills of the broker`,
    figures: { ...summary(report), ...spread("first answer after the port opens", recoveries) },
  });
  expect(brokenRules(report)).toEqual([]);
  expect(report).toMatchObject({ failed: {}, repeated: [], answered: report.asked });
});
