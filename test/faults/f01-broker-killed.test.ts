import { setTimeout as sleep } from "node:timers/promises";
import { sharedRedisUrl, startOwnBroker } from "@rockbot/testing";
import { expect, test } from "vitest";
import { brokenRules } from "./ledger.ts";
import { startLoad } from "./load.ts";
import { openScene } from "./scene.ts";
import { startEffectService } from "./start-effect-service.ts";

const KILLS = 3;
const redisUrl = await sharedRedisUrl();

test("F01: every call is answered once, with one effect, while the broker is killed and restarted three times under 200 calls a second", {
  timeout: 240_000,
}, async () => {
  await using broker = await startOwnBroker();
  await using scene = await openScene(broker.url, { redisUrl });
  await using _one = await startEffectService(scene.service);
  await using _other = await startEffectService(scene.service);
  await using load = await startLoad(scene, { perSecond: 200, deadlineMs: 40_000, kind: "effect" });
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(2_000); // the load runs undisturbed
    await broker.kill();
    await broker.restart();
    await expect.poll(() => scene.bus.isReady, { timeout: 20_000 }).toBe(true);
  }
  await sleep(2_000);

  const report = await load.stop();
  console.log({ ...report, repeated: report.repeated.length });
  expect(brokenRules(report)).toEqual([]);
  expect(report).toMatchObject({ failed: {}, repeated: [], answered: report.asked });
});
