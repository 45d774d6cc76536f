import { SubscriptionConflictError } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { sharedAmqpUrl, startTcpFaultProxy } from "@rockbot/testing";
import { expect, test } from "vitest";
import { textMessage, textOf, uniqueName } from "../broker/messages.ts";
import { openRawChannel } from "../broker/raw-channel.ts";
import { record } from "./figures.ts";

const url = await sharedAmqpUrl();
const WAIT = { timeout: 15_000 };

test("F24: a queue that exists with other properties is refused with the one that differs, and harms no other subscription", async () => {
  await using bus = await connectBus(url);
  await using raw = await openRawChannel(url);
  const name = uniqueName();
  const other = uniqueName();
  const received: string[] = [];
  await using _ = await bus.subscribe({ name: other, topics: [other] }, async (message) => {
    received.push(textOf(message));
  });
  await raw.channel.assertQueue(`rockbot.${name}.v1`, {
    arguments: { "x-queue-type": "quorum", "x-delivery-limit": 3 },
  });

  const refused = bus.subscribe({ name, topics: [name] }, async () => {});
  await expect(refused).rejects.toThrow(SubscriptionConflictError);
  await expect(refused).rejects.toThrow(/"x-delivery-limit"|"x-dead-letter/);
  await bus.publish(textMessage(other, "still here"), { mandatory: true });
  await expect.poll(() => received, WAIT).toEqual(["still here"]);
  expect(bus.isReady).toBe(true);
  await raw.channel.deleteQueue(`rockbot.${name}.v1`);
  await record({
    fault: "F24",
    done: "a subscription whose queue exists with other properties",
    figures: { "names the property": 1, "others go on": 1 },
  });
});

test("F24: a queue that comes back with other properties makes the bus unready, others go on, and it is taken as soon as it is right", {
  timeout: 60_000,
}, async () => {
  await using proxy = await startTcpFaultProxy(url);
  const errors: string[] = [];
  const ignore = () => {};
  const log = {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (fields: object) => void errors.push(JSON.stringify(fields)),
  };
  await using bus = await connectBus(proxy.through(url), { log });
  await using raw = await openRawChannel(url);
  const name = uniqueName();
  const other = uniqueName();
  const received: string[] = [];
  await using _ = await bus.subscribe({ name, topics: [name] }, async (message) => void received.push(textOf(message)));
  await using _other = await bus.subscribe(
    { name: other, topics: [other] },
    async (message) => void received.push(textOf(message)),
  );

  // While the connection is away somebody puts another queue in its place.
  proxy.setSilent(true);
  proxy.cutAll();
  await raw.channel.deleteQueue(`rockbot.${name}.v1`);
  await raw.channel.assertQueue(`rockbot.${name}.v1`, { arguments: { "x-queue-type": "classic" } });
  proxy.cutAll();
  proxy.setSilent(false);

  await expect.poll(() => errors.join("\n"), WAIT).toMatch(/exists with another \\"x-/);
  expect(bus.isReady).toBe(false);
  await bus.publish(textMessage(other, "still here"), { mandatory: true });
  await expect.poll(() => received, WAIT).toEqual(["still here"]);

  await raw.channel.deleteQueue(`rockbot.${name}.v1`);
  const rightAt = performance.now();
  await expect.poll(() => bus.isReady, WAIT).toBe(true);
  const backMs = Math.round(performance.now() - rightAt);
  await bus.publish(textMessage(name, "right again"), { mandatory: true });
  await expect.poll(() => received, WAIT).toEqual(["still here", "right again"]);
  await record({
    fault: "F24",
    done: "a queue is replaced by one with other properties while its connection is away",
    figures: { "names the property": 1, "others go on": 1, "taken after it is right, ms": backMs },
  });
});
