import { BusUnavailableError } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { startOwnBroker } from "@rockbot/testing";
import { afterAll, expect, test } from "vitest";
import { textMessage, textOf } from "./messages.ts";

const broker = await startOwnBroker(); // it goes on when a test ends
afterAll(() => broker[Symbol.asyncDispose]());

test("a bus whose broker stands still fails publishes in time, notices, and goes on with nothing lost when the broker does", { timeout: 120_000 }, async () => {
  await using bus = await connectBus(broker.url);
  const received: string[] = [];
  await using _ = await bus.subscribe({ name: "paused", topics: ["paused"] }, async (message) => {
    received.push(textOf(message));
  });

  await broker.pause();
  let isPatientOver = false;
  const patient = bus.publish(textMessage("paused", "patient"), { timeoutMs: 60_000 }).finally(() => {
    isPatientOver = true;
  });
  await expect(bus.publish(textMessage("paused", "hasty"), { timeoutMs: 500 })).rejects.toBeInstanceOf(BusUnavailableError);
  await expect.poll(() => bus.isReady, { message: "the silence is noticed" }).toBe(false);
  await expect(bus.inspect("paused")).rejects.toBeInstanceOf(BusUnavailableError);
  expect(isPatientOver).toBe(false);

  await broker.resume();
  await patient;
  await expect.poll(() => received, { timeout: 10_000 }).toContain("patient");
  await bus.publish(textMessage("paused", "after"), { mandatory: true });
  await expect.poll(() => received, { timeout: 10_000 }).toContain("after");
});

test("a broker that has not heard from a queue in time does not make its consumers nobody", { timeout: 120_000 }, async () => {
  await using bus = await connectBus(broker.url);
  await using _ = await bus.subscribe({ name: "mute", topics: ["mute"] }, async () => {});
  expect(await bus.inspect("mute")).toEqual({ consumers: 1, messages: 0 });

  await broker.ctl("eval", "sys:suspend('%2F_rockbot.mute.v1').");
  await expect(bus.inspect("mute")).rejects.toBeInstanceOf(BusUnavailableError);
  await broker.ctl("eval", "sys:resume('%2F_rockbot.mute.v1').");
  expect(await bus.inspect("mute")).toEqual({ consumers: 1, messages: 0 });
});

test("a bus closes within its drain time although its broker stands still", { timeout: 60_000 }, async () => {
  const bus = await connectBus(broker.url, { drainMs: 500 });
  await bus.subscribe({ name: "closing", topics: ["closing"] }, async () => {});
  await broker.pause();
  const publishing = bus.publish(textMessage("closing", "unconfirmed"), { timeoutMs: 60_000 });
  const start = performance.now();
  await Promise.all([bus[Symbol.asyncDispose](), expect(publishing).rejects.toThrow()]);
  expect(performance.now() - start).toBeLessThan(30_000); // what it publishes has a minute
  await broker.resume();
});
