import { connectBus } from "@rockbot/bus-rabbitmq";
import { startOwnBroker } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { atScale, record } from "./figures.ts";
import { openScene } from "./scene.ts";
import { countOutcomes, settleCall } from "./settle-calls.ts";
import { startEffectService } from "./start-effect-service.ts";

/** Each has two connections. */
const BUSES = atScale(30, 150);
const CALLERS = atScale(10, 40);
const CALLS = atScale(2_000, 10_000);

test(`F25, F26: ${CALLS} calls at once are all answered, once; when the broker is killed all of ${2 * BUSES} connections come back, soon and spread out`, {
  timeout: 120_000,
}, async () => {
  await using broker = await startOwnBroker();
  await using scene = await openScene(broker.url);
  await using _service = await startEffectService(scene.service);
  await using stack = new AsyncDisposableStack();
  const buses = await Promise.all(Array.from({ length: BUSES }, async (_, index) => stack.use(await connectBus(broker.url, { name: `herd-${index}` }))));
  const callers = await Promise.all(
    buses.slice(0, CALLERS).map(async (bus, index) => stack.use(await createToolCaller(bus, { agent: `herd-${index}-${scene.service.service}` }))),
  );
  await Promise.all(callers.map((caller) => caller.discovered()));

  const started = performance.now();
  const settled = await Promise.all(
    Array.from({ length: CALLS }, (_, index) => {
      const caller = callers[index % CALLERS] as (typeof callers)[number];
      return settleCall(caller, scene.tool("repeat"), { id: `many-${index}` }, { timeoutMs: 40_000 });
    }),
  );
  const callsPerSecond = Math.round(CALLS / ((performance.now() - started) / 1_000));
  expect(countOutcomes(settled)).toEqual({ ok: CALLS });
  expect(settled.filter(({ id, content }) => id !== content)).toEqual([]);
  const effects = await scene.ledger.count("effect");
  expect([effects.size, Math.max(...effects.values())]).toEqual([CALLS, 1]);

  await broker.kill();
  await expect.poll(() => buses.filter((bus) => bus.isReady).length, { timeout: 10_000, interval: 5 }).toBe(0);
  await broker.restart();
  const accepting = performance.now();
  await expect.poll(() => buses.filter((bus) => bus.isReady).length, { timeout: 20_000, interval: 5 }).toBe(BUSES);
  const backMs = Math.round(performance.now() - accepting);
  await record({ fault: "F25", done: `${2 * BUSES} connections after a kill of the broker`, figures: { "all back after ms": backMs } });
  await record({ fault: "F26", done: `${CALLS} calls at once`, figures: { ok: CALLS, lost: 0, "doubled effects": 0, "calls/s": callsPerSecond } });
  expect(backMs).toBeLessThan(10_000);
});
