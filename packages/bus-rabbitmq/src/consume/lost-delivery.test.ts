import { randomBytes } from "node:crypto";
import type { Delivery } from "@rockbot/bus";
import { createEnvelope } from "@rockbot/contracts";
import { sharedAmqpUrl, startTcpFaultProxy } from "@rockbot/testing";
import { expect, test } from "vitest";
import { connectBus } from "../rabbitmq-bus.ts";

const url = await sharedAmqpUrl();
const WAIT = { timeout: 40_000, interval: 20 };

test("a message whose connection is lost, unknown to its handler, is not the handler's any more, and is the next one's", {
  timeout: 60_000,
}, async () => {
  await using proxy = await startTcpFaultProxy(url);
  let way = proxy.through(url);
  await using first = await connectBus(() => way, { name: "first", heartbeatSeconds: 2 });
  await using second = await connectBus(url, { name: "second" });
  const name = `lost-${randomBytes(6).toString("hex")}`;
  const deliveries: Delivery[] = [];
  const over = Promise.withResolvers<void>();
  const subscribeTo = (bus: typeof first) =>
    bus.subscribe({ name, topics: [name], kind: "service" }, (_message, delivery) => {
      deliveries.push(delivery);
      return over.promise;
    });
  await using _first = await subscribeTo(first);
  await second.publish(createEnvelope({ topic: name, type: "t", source: "second", body: new Uint8Array() }), {
    mandatory: true,
  });
  await expect.poll(() => deliveries.length, WAIT).toBe(1);
  expect(await Promise.all([deliveries[0]?.isOurs?.(), deliveries[0]?.isOurs?.()])).toEqual([true, true]);
  await using _second = await subscribeTo(second);
  proxy.setSilent(true); // neither side hears of the other again
  way = url;
  await expect.poll(() => deliveries.length, WAIT).toBe(2);
  expect(await Promise.all(deliveries.map((delivery) => delivery.isOurs?.()))).toEqual([false, true]);
  over.resolve();
});
