import { connectBus } from "@rockbot/bus-rabbitmq";
import { startOwnBroker, startTcpFaultProxy } from "@rockbot/testing";
import { expect, test } from "vitest";
import { atScale, record } from "./figures.ts";

/** Each has two connections. */
const BUSES = atScale(30, 150);
const KILLS = atScale(1, 2);

test(`F25: when the broker is killed all of ${2 * BUSES} connections come back, soon and spread out`, {
  timeout: 120_000 + 60_000 * KILLS,
}, async () => {
  await using broker = await startOwnBroker();
  await using proxy = await startTcpFaultProxy(broker.url); // counts attempts
  await using stack = new AsyncDisposableStack();
  const buses = await Promise.all(
    Array.from({ length: BUSES }, async (_, index) =>
      stack.use(
        await connectBus(proxy.through(broker.url), {
          name: `herd-${index}`,
          drainMs: 1_000,
          connectTimeoutMs: 120_000,
        }),
      ),
    ),
  );
  const isReady = () => buses.filter((bus) => bus.isReady).length;
  for (let kill = 0; kill < KILLS; kill++) {
    const before = proxy.accepted;
    const killedAt = performance.now();
    await broker.kill();
    await expect.poll(isReady, { timeout: 10_000, interval: 5 }).toBe(0);
    await broker.restart();
    const accepting = performance.now();
    await expect.poll(isReady, { timeout: 20_000, interval: 5 }).toBe(BUSES);
    const backMs = Math.round(performance.now() - accepting);
    const attempts = proxy.accepted - before;
    await record({
      fault: "F25",
      done: `${2 * BUSES} connections after a kill of the broker, which is away for ${Math.round((accepting - killedAt) / 100) / 10} s`,
      figures: { "all back after ms": backMs, attempts },
    });
    expect(backMs).toBeLessThan(10_000);
    expect(attempts).toBeLessThanOrEqual(5_000);
  }
});
