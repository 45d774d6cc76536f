import { BusUnavailableError } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { startOwnBroker } from "@rockbot/testing";
import { afterAll, expect, test } from "vitest";
import { textMessage, textOf, uniqueName } from "./messages.ts";

const broker = await startOwnBroker(); // it goes on, and has enough of all, when a test ends
afterAll(() => broker[Symbol.asyncDispose]());

const shortages = [
  {
    what: "memory",
    alarm: ["set_vm_memory_high_watermark", "absolute", "1MB"],
    enough: ["set_vm_memory_high_watermark", "0.6"],
  },
  { what: "disk", alarm: ["set_disk_free_limit", "900000GB"], enough: ["set_disk_free_limit", "1MB"] },
];

test.each(shortages)(
  "while the broker is short of $what consumers go on, publishes fail in time, and flow again when it has some",
  {
    timeout: 180_000,
  },
  async ({ alarm, enough }) => {
    const name = uniqueName();
    await using bus = await connectBus(broker.url);
    const received: string[] = [];
    await (await bus.subscribe({ name, topics: [name] }, async () => {}))[Symbol.asyncDispose]();
    const stock = Array.from({ length: 50 }, (_, index) => `stock ${index}`);
    await Promise.all(stock.map((text) => bus.publish(textMessage(name, text))));

    await broker.ctl(...alarm);
    // The alarm reaches connections a moment later, and tells a connection only when it publishes.
    await expect
      .poll(
        () =>
          bus.publish(textMessage("nobody", "probe"), { timeoutMs: 300 }).then(
            () => "taken",
            () => "not taken",
          ),
        { timeout: 40_000 },
      )
      .toBe("not taken");
    expect([bus.isReady, bus.isBlocked]).toEqual([false, true]);

    await using _ = await bus.subscribe({ name, topics: [name] }, async (message) => {
      received.push(textOf(message));
    });
    await expect.poll(() => received.length, { timeout: 40_000 }).toBe(50);
    let isPatientOver = false;
    const patient = bus.publish(textMessage(name, "patient"), { timeoutMs: 60_000 }).finally(() => {
      isPatientOver = true;
    });
    await expect(bus.publish(textMessage(name, "hasty"), { timeoutMs: 400 })).rejects.toThrow(BusUnavailableError);
    expect(isPatientOver).toBe(false);

    await broker.ctl(...enough);
    await patient;
    await expect.poll(() => received, { timeout: 40_000 }).toContain("patient");
    expect(received.slice(0, 50)).toEqual(stock);
    expect(received).not.toContain("hasty");
    expect([bus.isReady, bus.isBlocked]).toEqual([true, false]);
  },
);

test("a bus whose broker stands still fails publishes in time, notices, and goes on with nothing lost when the broker does", {
  timeout: 180_000,
}, async () => {
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
  await expect(bus.publish(textMessage("paused", "hasty"), { timeoutMs: 500 })).rejects.toBeInstanceOf(
    BusUnavailableError,
  );
  await expect.poll(() => bus.isReady, { message: "the silence is noticed" }).toBe(false);
  await expect(bus.inspect("paused")).rejects.toBeInstanceOf(BusUnavailableError);
  expect(isPatientOver).toBe(false);

  await broker.resume();
  await patient;
  await expect.poll(() => received, { timeout: 40_000 }).toContain("patient");
  await bus.publish(textMessage("paused", "after"), { mandatory: true });
  await expect.poll(() => received, { timeout: 40_000 }).toContain("after");
});

test("a broker that has not heard from a queue in time does not make its consumers nobody", {
  timeout: 180_000,
}, async () => {
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
