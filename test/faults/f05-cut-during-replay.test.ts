import { type Bus, BusUnavailableError } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import {
  type AmqpMethod,
  type CutPoint,
  type Direction,
  sharedAmqpUrl,
  startTcpFaultProxy,
  type TcpFaultProxy,
} from "@rockbot/testing";
import { expect, test } from "vitest";
import { textMessage, textOf, uniqueName } from "../broker/messages.ts";
import { seededRandom } from "../broker/seeded-random.ts";
import { atScale, record, seed } from "./figures.ts";

/** Buses that are cut side by side, each behind a proxy of its own. */
const LANES = atScale(8, 20);
const POINTS = atScale(5, 25) * LANES;
/** Says "never": how soon is recorded. */
const COME_BACK_MS = 60_000;

/**
 * What a bus with one subscription of each kind sends while it prepares its two connections, and how often at least.
 */
const sent = {
  "connection.start-ok": 2,
  "connection.open": 2,
  "channel.open": 9,
  "exchange.declare": 4,
  "queue.declare": 6,
  "queue.bind": 6,
  "basic.qos": 5,
  "basic.consume": 5,
  "confirm.select": 1,
  "channel.close": 4,
} as const satisfies Partial<Record<AmqpMethod, number>>;
/** What it receives. */
const answered = {
  "connection.open-ok": 2,
  "channel.open-ok": 9,
  "exchange.declare-ok": 4,
  "queue.declare-ok": 6,
  "queue.bind-ok": 6,
  "basic.consume-ok": 5,
  "confirm.select-ok": 1,
} as const satisfies Partial<Record<AmqpMethod, number>>;

const url = await sharedAmqpUrl();

// A crash would be an uncaught exception or rejection: vitest fails the run for either.
test(`F05: a bus whose connection is cut at ${POINTS} random points of its preparation always comes back with all consumers: ROCKBOT_TEST_SEED=${seed}`, {
  timeout: 120_000 + 1_000 * POINTS,
}, async () => {
  const slowestMs = await Promise.all(
    Array.from({ length: LANES }, (_, lane) => runLane(seededRandom(seed + lane), POINTS / LANES)),
  );
  await record({
    fault: "F05",
    done: `a bus with a subscription of each kind, cut at ${POINTS} random bytes and frames of its preparation`,
    figures: {
      "back with all consumers": POINTS,
      "connected in name only": 0,
      crashes: 0,
      "slowest ms": Math.max(...slowestMs),
    },
  });
});

/** @returns how long the slowest return took, in milliseconds */
async function runLane(random: () => number, points: number): Promise<number> {
  await using proxy = await startTcpFaultProxy(url);
  await using bus = await connectBus(proxy.through(url), { name: "cut" });
  await using consumers = await subscribeEachKind(bus);
  const bytes = await measurePreparation(proxy, bus);
  let slowestMs = 0;
  for (let point = 0; point < points; point++) {
    const at = randomPoint(random, bytes);
    let isCut = false;
    void proxy.cutAt(at).then(() => {
      isCut = true;
    });
    proxy.cutAll();
    await expect
      .poll(() => isCut, {
        timeout: COME_BACK_MS,
        interval: 5,
        message: `comes to ${JSON.stringify(at)} in round ${point}`,
      })
      .toBe(true);
    const start = performance.now();
    await consumers.untilAllReceive(`${JSON.stringify(at)} in round ${point}`);
    slowestMs = Math.max(slowestMs, performance.now() - start);
  }
  return Math.round(slowestMs);
}

function randomPoint(random: () => number, bytes: Record<Direction, number>): CutPoint {
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  if (random() < 0.5) {
    const direction = pick(["toBroker", "toClient"] as const);
    return { direction, afterBytes: 1 + below(bytes[direction] - 1) };
  }
  const [method, times] = pick(Object.entries({ ...sent, ...answered })) as [AmqpMethod, number];
  return { method, nth: 1 + below(times), isForwarded: random() < 0.5 };
}

/** The bytes that both connections take to be ready, in each direction. */
async function measurePreparation(proxy: TcpFaultProxy, bus: Bus): Promise<Record<Direction, number>> {
  const before = proxy.bytes;
  proxy.cutAll();
  await expect.poll(() => bus.isReady, { timeout: COME_BACK_MS, interval: 1 }).toBe(false);
  await expect.poll(() => bus.isReady, { timeout: COME_BACK_MS, interval: 5 }).toBe(true);
  const after = proxy.bytes;
  return { toBroker: after.toBroker - before.toBroker, toClient: after.toClient - before.toClient };
}

async function subscribeEachKind(
  bus: Bus,
): Promise<AsyncDisposable & { untilAllReceive(when: string): Promise<void> }> {
  const stack = new AsyncDisposableStack();
  const received = new Map<string, string>();
  for (const kind of ["service", "result", "copy"] as const) {
    const name = uniqueName();
    const topic = `cut.${name}`;
    received.set(topic, "");
    const subscription = await bus.subscribe({ name, topics: [topic], kind }, async (message) => {
      received.set(topic, textOf(message));
    });
    stack.use(subscription);
  }
  let count = 0;
  return {
    async untilAllReceive(when) {
      const text = `message ${++count}`;
      const isDone = () => [...received.values()].every((last) => last === text);
      const deadline = performance.now() + COME_BACK_MS;
      while (!isDone()) {
        if (performance.now() > deadline)
          throw new Error(
            `Not all consumers receive after a cut at ${when}: ${JSON.stringify([...received])}, isReady is ${bus.isReady}`,
          );
        const missing = [...received].filter(([, last]) => last !== text);
        // A copy's queue is gone with its connection and what comes meanwhile is lost, so it is sent again.
        await Promise.all(
          missing.map(([topic]) =>
            bus.publish(textMessage(topic, text), { timeoutMs: COME_BACK_MS }).catch(ignoreUnavailable),
          ),
        );
        await expect
          .poll(isDone, { timeout: 200, interval: 5 })
          .toBe(true)
          .catch(() => {});
      }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof BusUnavailableError)) throw error;
}
