import { sharedAmqpUrl, sharedRedisUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { seededRandom } from "../broker/seeded-random.ts";
import { decideUnderKills } from "./decided-calls.ts";
import { atScale, record } from "./figures.ts";
import { openScene } from "./scene.ts";

const [busUrl, redisUrl] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);

test("F40: of calls that wait, each that is approved runs at most once, and no other runs, while services are killed", {
  timeout: atScale(120_000, 900_000),
}, async () => {
  await using scene = await openScene(busUrl, { redisUrl, keepsAll: true });
  const random = seededRandom(40);
  const { calls, deaths, ends, lost, faults } = await decideUnderKills(scene, {
    agents: atScale(4, 50),
    overMs: atScale(6_000, 60_000),
    random,
    killAfterMs: () => 300 + random() * 1_500,
  });
  expect([faults, lost]).toEqual([[], 0]);
  expect(deaths).toBeGreaterThan(0);
  await record({
    fault: "F40",
    done: `${calls} calls that wait for approval, two instances killed ${deaths} times meanwhile, decisions that race`,
    figures: { ...ends, "doubled effects": 0, "undecided and run": 0 },
  });
});
