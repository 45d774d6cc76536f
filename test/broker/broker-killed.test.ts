import { setTimeout as sleep } from "node:timers/promises";
import { createRequester } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { startOwnBroker } from "@rockbot/testing";
import { expect, test } from "vitest";
import { Ledger } from "./ledger.ts";
import { textMessage, textOf } from "./messages.ts";

const KILLS = 3;
const PER_SECOND = 200;
const DEADLINE_MS = 40_000;

test("no request is lost while the broker is killed and restarted three times under 200 requests a second", { timeout: 240_000 }, async () => {
  await using broker = await startOwnBroker();
  await using service = await connectBus(broker.url, { name: "service" });
  await using caller = await connectBus(broker.url, { name: "caller" });
  const ledger = new Ledger();
  await using _served = await service.subscribe({ name: "echo", topics: ["tool.invoke.echo"] }, async (request) => {
    ledger.effect(textOf(request));
    await service.publish(textMessage(request.replyTo ?? "", textOf(request), { correlationId: request.correlationId }), { timeoutMs: DEADLINE_MS });
  });
  await using requester = createRequester(caller, { replyTo: "tool.result.caller", subscription: { name: "result.caller", kind: "result" } });

  const stop = new AbortController();
  const load = ledger.run({
    perSecond: PER_SECOND,
    deadlineMs: DEADLINE_MS,
    signal: stop.signal,
    call: async (id) => textOf(await requester.request(textMessage("tool.invoke.echo", id, { correlationId: id }), { timeoutMs: DEADLINE_MS })),
  });
  const start = performance.now();
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(2_000); // the load runs undisturbed
    await broker.kill();
    await broker.restart();
    await expect.poll(() => service.isReady && caller.isReady, { timeout: 20_000 }).toBe(true);
  }
  await sleep(2_000);
  stop.abort();
  const seconds = (performance.now() - start) / 1_000;
  await load;

  const report = ledger.report();
  console.log({ ...report, repeated: report.repeated.length });
  expect(report.asked).toBeGreaterThan(0.95 * PER_SECOND * seconds);
  expect(report).toMatchObject({ lost: [], crossed: [], late: [], hollow: [], failed: {}, answered: report.asked });
});
