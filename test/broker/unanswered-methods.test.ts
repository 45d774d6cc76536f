import { connectBus } from "@rockbot/bus-rabbitmq";
import { type AmqpMethod, sharedAmqpUrl, startTcpFaultProxy } from "@rockbot/testing";
import { test } from "vitest";
import { textMessage, textOf, uniqueName } from "./messages.ts";

const url = await sharedAmqpUrl();
const WAIT = { timeout: 30_000 };
const answers: AmqpMethod[] = [
  "channel.open-ok",
  "exchange.declare-ok",
  "queue.declare-ok",
  "queue.bind-ok",
  "basic.qos-ok",
  "basic.consume-ok",
];

test.concurrent.for(answers)(
  "a subscription is made on another connection if the broker lives and never says %s",
  { timeout: 60_000 },
  async (answer, { expect }) => {
    await using proxy = await startTcpFaultProxy(url);
    await using bus = await connectBus(proxy.through(url));
    const name = uniqueName();
    const received: string[] = [];
    const swallowed = proxy.swallow(answer);

    await using _ = await bus.subscribe(
      { name, topics: [name] },
      async (message) => void received.push(textOf(message)),
    );
    await swallowed;
    await bus.publish(textMessage(name, "taken"), { mandatory: true });
    await expect.poll(() => received, WAIT).toEqual(["taken"]);
    expect(proxy.accepted).toBeGreaterThanOrEqual(3);
  },
);

test.concurrent.for(["basic.consume-ok", "confirm.select-ok"] as const)(
  "a bus that comes back after its connections were cut tries once more if the broker never says %s",
  { timeout: 60_000 },
  async (answer, { expect }) => {
    await using proxy = await startTcpFaultProxy(url);
    await using bus = await connectBus(proxy.through(url));
    const name = uniqueName();
    const received: string[] = [];
    await using _ = await bus.subscribe(
      { name, topics: [name] },
      async (message) => void received.push(textOf(message)),
    );
    const swallowed = proxy.swallow(answer);

    proxy.cutAll();
    await swallowed;
    await expect.poll(() => bus.isReady, WAIT).toBe(true);
    await bus.publish(textMessage(name, "taken"), { mandatory: true });
    await expect.poll(() => received, WAIT).toEqual(["taken"]);
    expect(proxy.accepted).toBeGreaterThanOrEqual(5);
  },
);
