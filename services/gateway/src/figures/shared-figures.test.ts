import { randomBytes } from "node:crypto";
import { silentLogger } from "@rockbot/bus";
import type { FigureStore } from "@rockbot/records/figures";
import { connectRedisFigureStore } from "@rockbot/records/figures/redis";
import { sharedRedisUrl } from "@rockbot/testing";
import type { InstanceReport } from "@rockbot/tools";
import { expect, test } from "vitest";
import { MINUTE_MS } from "./day-of-minutes.ts";
import { ServiceFigures } from "./service-figures.ts";
import { SharedFigures } from "./shared-figures.ts";

const START = 1_000_000 * MINUTE_MS;
const url = await sharedRedisUrl();
const clock = { now: START };
let said: readonly InstanceReport[] = [];
const say = (count: number): void => {
  const calls = { outcomes: [{ code: "ok", count }], durations: [count], inFlight: 0, oldestMs: 0 };
  said = [{ instance: "a", epoch: START - 3_600_000, calls }];
};

function startOne(store: FigureStore) {
  const figures = new ServiceFigures({ reports: () => new Map([["web", said]]), clock: () => clock.now });
  return { figures, shared: new SharedFigures(figures, { store, log: silentLogger }) };
}

test("gateways that share a store show the same day, also one that starts later or saw a part of a minute", async () => {
  clock.now = START;
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  await using store = await connectRedisFigureStore(url, { prefix });
  const one = startOne(store);
  say(0);
  one.figures.tick();
  say(10);
  one.figures.tick();
  const two = startOne(store); // of this minute it hears the rest only
  clock.now += MINUTE_MS - 1;
  two.figures.tick();
  say(15);
  for (const { figures } of [one, two]) figures.tick();
  clock.now += 1;
  for (const { figures } of [one, two]) figures.tick();
  await two.shared.exchange();
  await one.shared.exchange(); // its row counts more
  clock.now += MINUTE_MS;
  for (const { figures } of [one, two]) figures.tick();
  await two.shared.exchange();

  const later = startOne(store);
  await later.shared.exchange();
  expect(one.figures.minutes("web", 3).ended).toEqual([15, 0, 0]);
  expect(later.figures.minutes("web", 3).ended).toEqual([15, 0, null]);
  expect(later.figures.minutes(undefined, 3).ended).toEqual([15, 0, null]);
});

test("minutes wait while the store is away, and the day comes once it is back", async () => {
  clock.now = START;
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  await using redis = await connectRedisFigureStore(url, { prefix });
  let isAway = true;
  const away = () => Promise.reject(new Error("away"));
  const store: FigureStore = {
    load: () => (isAway ? away() : redis.load()),
    keep: (...row) => (isAway ? away() : redis.keep(...row)),
    async [Symbol.asyncDispose]() {},
  };
  const one = startOne(store);
  say(0);
  one.figures.tick();
  say(4);
  one.figures.tick();
  clock.now += MINUTE_MS;
  one.figures.tick();
  await one.shared.exchange();
  expect((await redis.load()).size).toBe(0);
  isAway = false;
  await one.shared.exchange();
  expect([...(await redis.load()).keys()].sort()).toEqual(["*", "web"]);
});
