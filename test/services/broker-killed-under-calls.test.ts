import { setTimeout as sleep } from "node:timers/promises";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { startOwnBroker } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { Ledger } from "../faults/ledger.ts";
import { startEchoService } from "./start-service.ts";

const KILLS = 3;
const PER_SECOND = 200;
const DEADLINE_MS = 40_000;
/** Calls wait while the broker is away, and one caller may have 256 out. */
const CALLERS = 10;

test("every tool call is answered once while the broker is killed and restarted three times under 200 calls a second", { timeout: 240_000 }, async () => {
  await using broker = await startOwnBroker();
  await using service = await startEchoService(broker.url);
  await using bus = await connectBus(broker.url, { name: "callers" });
  await using stack = new AsyncDisposableStack();
  const callers = await Promise.all(Array.from({ length: CALLERS }, async (_, index) => stack.use(await createToolCaller(bus, { agent: `caller-${index}` }))));

  const ledger = new Ledger();
  const stop = new AbortController();
  let next = 0;
  const load = ledger.run({
    perSecond: PER_SECOND,
    deadlineMs: DEADLINE_MS,
    signal: stop.signal,
    async call(id) {
      const caller = callers[next++ % CALLERS];
      return (await caller?.call("echo", { id }, { timeoutMs: DEADLINE_MS }))?.content ?? "";
    },
  });
  const start = performance.now();
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(2_000); // the load runs undisturbed
    await broker.kill();
    await broker.restart();
    await expect.poll(() => bus.isReady, { timeout: 20_000 }).toBe(true);
  }
  await sleep(2_000);
  stop.abort();
  const seconds = (performance.now() - start) / 1_000;
  await load;

  for (const id of service.stdout().trim().split("\n").slice(1)) ledger.effect(id);
  const report = ledger.report();
  console.log({ ...report, repeated: report.repeated.length });
  expect(report.asked).toBeGreaterThan(0.95 * PER_SECOND * seconds);
  expect(report.failed).toEqual({});
  expect(report).toMatchObject({ lost: [], crossed: [], late: [], hollow: [], answered: report.asked });
});
