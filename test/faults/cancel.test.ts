import { sharedAmqpUrl, sharedRedisUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { openScene } from "./scene.ts";
import { countOutcomes, settleCall } from "./settle-calls.ts";
import { startEffectService } from "./start-effect-service.ts";

const QUEUED = 50;
const [busUrl, redisUrl] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);

test(`${QUEUED} calls that are cancelled while they wait never start, on no replica, and one that runs is told to stop`, { timeout: 60_000 }, async () => {
  await using scene = await openScene(busUrl, { redisUrl });
  const { caller, ledger, bus } = scene;
  // Each replica runs one call at a time and holds one more ready: the others wait at the broker.
  const service = { ...scene.service, concurrency: 1 };
  await using _one = await startEffectService(service);
  await using _other = await startEffectService(service);
  await caller.discovered();
  const running = ["running-0", "running-1"].map((id) => {
    const abort = new AbortController();
    return { id, abort, settled: settleCall(caller, scene.tool("effect"), { id, holdMs: 30_000 }, { timeoutMs: 40_000, signal: abort.signal }) };
  });
  await expect.poll(async () => (await ledger.count("effect")).size, { timeout: 10_000 }).toBe(running.length);
  const abort = new AbortController();
  const queued = Array.from({ length: QUEUED }, (_, index) =>
    settleCall(caller, scene.tool("effect"), { id: `queued-${index}` }, { timeoutMs: 40_000, signal: abort.signal }),
  );
  await expect.poll(async () => (await bus.inspect(service.service))?.messages, { timeout: 10_000 }).toBe(QUEUED - 2);

  abort.abort();
  expect(countOutcomes(await Promise.all(queued))).toEqual({ cancelled: QUEUED });
  const start = performance.now();
  for (const { abort: one } of running) one.abort();
  await expect.poll(async () => (await ledger.count("aborted")).size, { timeout: 5_000, interval: 5 }).toBe(running.length);
  const reachedMs = performance.now() - start;
  expect(countOutcomes(await Promise.all(running.map(({ settled }) => settled)))).toEqual({ cancelled: running.length });

  // One after the other comes to a free place, and none starts.
  await expect.poll(async () => (await bus.inspect(service.service))?.messages, { timeout: 10_000 }).toBe(0);
  expect((await settleCall(caller, scene.tool("effect"), { id: "after" }, { timeoutMs: 10_000 })).outcome).toBe("ok");
  expect([...(await ledger.count("effect")).keys()].toSorted()).toEqual(["after", "running-0", "running-1"]);
  console.log({ reachedMs: Math.round(reachedMs) });
  expect(reachedMs).toBeLessThan(1_000);
});
