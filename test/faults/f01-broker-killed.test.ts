import { setTimeout as sleep } from "node:timers/promises";
import { sharedRedisUrl, startOwnBroker } from "@rockbot/testing";
import { expect, test } from "vitest";
import { atScale, record } from "./figures.ts";
import { brokenRules, summary } from "./ledger.ts";
import { startLoad } from "./load.ts";
import { openScene } from "./scene.ts";
import { startEffectService } from "./start-effect-service.ts";

const KILLS = atScale(2, 50);
/** How long the load runs between kills: so that the soak makes 100 000 calls. */
const UNDISTURBED_MS = atScale(2_000, 14_000);
const PER_SECOND = 100;
const redisUrl = await sharedRedisUrl();

test(`F01: every call is answered once, with one effect, while the broker is killed and restarted ${KILLS} times under ${PER_SECOND} calls a second`, {
  timeout: 80_000 * KILLS,
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
  await sleep(UNDISTURBED_MS);

  const report = await load.stop();
  recoveries.sort((a, b) => a - b);
  const at = (part: number) => Math.round(recoveries[Math.min(recoveries.length - 1, Math.floor(recoveries.length * part))] ?? 0);
  await record({
    fault: "F01",
    done: `${report.asked} calls at ${PER_SECOND}/s over ${KILLS} kills of the broker`,
    figures: { ...summary(report), "first answer after the port opens, p50 ms": at(0.5), "p99 ms": at(0.99) },
  });
  expect(brokenRules(report)).toEqual([]);
  expect(report).toMatchObject({ failed: {}, repeated: [], answered: report.asked });
});
