import { BusUnavailableError } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { startOwnBroker } from "@rockbot/testing";
import { afterAll, expect, test } from "vitest";
import { textMessage, textOf, uniqueName } from "./messages.ts";

const broker = await startOwnBroker(); // it has enough of all when a test ends
afterAll(() => broker[Symbol.asyncDispose]());

const shortages = [
  { what: "memory", alarm: ["set_vm_memory_high_watermark", "absolute", "1MB"], enough: ["set_vm_memory_high_watermark", "0.6"] },
  { what: "disk", alarm: ["set_disk_free_limit", "900000GB"], enough: ["set_disk_free_limit", "1MB"] },
];

test.each(shortages)(
  "while the broker is short of $what consumers go on, publishes fail in time, and flow again when it has some",
  {
    timeout: 90_000,
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
        { timeout: 20_000 },
      )
      .toBe("not taken");
    expect([bus.isReady, bus.isBlocked]).toEqual([false, true]);

    await using _ = await bus.subscribe({ name, topics: [name] }, async (message) => {
      received.push(textOf(message));
    });
    await expect.poll(() => received.length, { timeout: 10_000 }).toBe(50);
    let isPatientOver = false;
    const patient = bus.publish(textMessage(name, "patient"), { timeoutMs: 60_000 }).finally(() => {
      isPatientOver = true;
    });
    await expect(bus.publish(textMessage(name, "hasty"), { timeoutMs: 400 })).rejects.toThrow(BusUnavailableError);
    expect(isPatientOver).toBe(false);

    await broker.ctl(...enough);
    await patient;
    await expect.poll(() => received, { timeout: 10_000 }).toContain("patient");
    expect(received.slice(0, 50)).toEqual(stock);
    expect(received).not.toContain("hasty");
    expect([bus.isReady, bus.isBlocked]).toEqual([true, false]);
  },
);
