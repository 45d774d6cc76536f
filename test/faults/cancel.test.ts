import { sharedAmqpUrl, sharedRedisUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { countOutcomes, settleCall } from "./agent/settle-calls.ts";
import { startEffectService } from "./effects/start-effect-service.ts";
import { atScale, record } from "./figures.ts";
import { openScene } from "./scene.ts";

const ROUNDS = atScale(1, 5);
/** In each round; one caller may have 256 calls out. */
const QUEUED = atScale(50, 200);
/** On each of two replicas, which holds as many more ready: the others wait at the broker. */
const RUNNING = 10;
const [busUrl, redisUrl] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);

test(`${ROUNDS * QUEUED} calls that are cancelled while they wait never start, on no replica`, {
  timeout: 60_000 * ROUNDS,
}, async () => {
  for (let round = 0; round < ROUNDS; round++) await cancelQueued();
  await record({
    fault: "cancel",
    done: `${ROUNDS * QUEUED} calls cancelled while they wait`,
    figures: { started: 0 },
  });
});

test(`${2 * ROUNDS * RUNNING} calls that are cancelled while they run are told to stop`, {
  timeout: 60_000 * ROUNDS,
}, async () => {
  const reached: number[] = [];
  for (let round = 0; round < ROUNDS; round++) reached.push(...(await cancelRunning()));
  reached.sort((a, b) => a - b);
  const p95Ms = reached[Math.floor(reached.length * 0.95)] ?? 0;
  await record({
    fault: "cancel",
    done: `${reached.length} calls cancelled while they run, one after the other`,
    figures: { "reached, p95 ms": p95Ms, "slowest ms": reached.at(-1) ?? 0 },
  });
  expect(reached.length).toBe(2 * ROUNDS * RUNNING);
});

async function cancelQueued(): Promise<void> {
  await using scene = await openRunning();
  const { ledger, bus, service, call, running } = scene;
  const forget = new AbortController();
  const queued = Array.from({ length: QUEUED }, (_, index) => call(`queued-${index}`, forget.signal, 0));
  await expect.poll(async () => (await bus.inspect(service))?.messages, { timeout: 10_000 }).toBe(QUEUED - 2 * RUNNING);

  forget.abort();
  expect(countOutcomes(await Promise.all(queued))).toEqual({ cancelled: QUEUED });
  for (const { stop } of running) stop.abort();
  expect(countOutcomes(await Promise.all(running.map(({ settled }) => settled)))).toEqual({
    cancelled: running.length,
  });

  // Those that wait come to a free place one after the other, and none starts.
  await expect.poll(async () => (await bus.inspect(service))?.messages, { timeout: 10_000 }).toBe(0);
  expect((await call("after", new AbortController().signal, 0)).outcome).toBe("ok");
  expect([...(await ledger.count("effect")).keys()].filter((id) => id.startsWith("queued"))).toEqual([]);
}

/** @returns how long each running call's cancel took to reach it, in milliseconds */
async function cancelRunning(): Promise<number[]> {
  await using scene = await openRunning();
  const reached: number[] = [];
  for (const { id, stop, settled } of scene.running) {
    const stoppedAt = Date.now(); // the clock that the ledger's times are of
    stop.abort();
    expect((await settled).outcome).toBe("cancelled");
    await expect.poll(async () => (await scene.ledger.times("aborted")).has(id), { interval: 5 }).toBe(true);
    reached.push(((await scene.ledger.times("aborted")).get(id) ?? 0) - stoppedAt);
  }
  return reached;
}

/** Two replicas, both of which run as many calls as they may. */
async function openRunning() {
  await using stack = new AsyncDisposableStack();
  const { caller, ledger, bus, tool, service: only } = stack.use(await openScene(busUrl, { redisUrl }));
  const service = { ...only, concurrency: RUNNING };
  stack.use(await startEffectService(service));
  stack.use(await startEffectService(service));
  await caller.discovered();
  const call = (id: string, signal: AbortSignal, holdMs: number) =>
    settleCall(caller, tool("effect"), { id, holdMs }, { timeoutMs: 40_000, signal });
  const running = Array.from({ length: 2 * RUNNING }, (_, index) => {
    const stop = new AbortController();
    const id = `running-${index}`;
    return { id, stop, settled: call(id, stop.signal, 30_000) };
  });
  await expect.poll(async () => (await ledger.count("effect")).size, { timeout: 10_000 }).toBe(running.length);
  const parts = stack.move();
  return { ledger, bus, service: service.service, call, running, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}
