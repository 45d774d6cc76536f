import { randomBytes } from "node:crypto";
import { silentLogger } from "@rockbot/bus";
import { createEnvelope } from "@rockbot/contracts";
import { sharedAmqpUrl, startTcpFaultProxy } from "@rockbot/testing";
import { expect, test } from "vitest";
import { connectBus } from "../rabbitmq-bus.ts";

const url = await sharedAmqpUrl();
const WAIT = { timeout: 30_000, interval: 20 };
/** The broker gives a connection up that has missed two of these, and the successor looks each second. */
const HEARTBEAT_SECONDS = 2;
const ROUNDS = 2;

test("an owner whose connection is dead, which the broker does not know, hears answers as soon as it is back, and later those that the dead one got", {
  timeout: 120_000,
}, async () => {
  await using stack = new AsyncDisposableStack();
  const proxies = await Promise.all(
    Array.from({ length: ROUNDS + 1 }, async () => stack.use(await startTcpFaultProxy(url))),
  );
  let way = proxies[0]?.through(url) ?? "";
  let succeeded = 0;
  let alone = 0;
  const warn = (_fields: object, text: string) => {
    if (text.startsWith("another process or connection")) succeeded++;
  };
  const info = (_fields: object, text: string) => {
    if (text === "the messages of this subscription come here only") alone++;
  };
  const options = {
    name: "owner",
    heartbeatSeconds: HEARTBEAT_SECONDS,
    silenceMs: 300,
    log: { ...silentLogger, warn, info },
  };
  const owner = stack.use(await connectBus(() => way, options));
  const sender = stack.use(await connectBus(url, { name: "sender" }));
  const name = `owned-${randomBytes(6).toString("hex")}`;
  const heard = new Set<string>();
  stack.use(
    await owner.subscribe(
      { name, topics: [name], kind: "result" },
      async ({ body }) => void heard.add(Buffer.from(body).toString()),
    ),
  );
  const message = (topic: string, text: string) =>
    createEnvelope({ topic, type: "t", source: "sender", body: Buffer.from(text) });
  const send = (text: string) => sender.publish(message(name, text), { mandatory: true });

  for (const [round, proxy] of proxies.slice(0, ROUNDS).entries()) {
    proxy.setSilent(true); // until the end: neither side hears of the other again
    way = proxies[round + 1]?.through(url) ?? "";
    await send(`${round}, to the dead connection`);
    await owner.publish(message("nobody", "so that the owner notices")); // confirmed on the next connection
    await expect.poll(() => owner.isReady, WAIT).toBe(true);
    await expect.poll(() => succeeded, WAIT).toBe(round + 1);
    await send(`${round}, after`);
    await expect.poll(() => heard.has(`${round}, after`), WAIT).toBe(true);
    expect(heard.has(`${round}, to the dead connection`)).toBe(false); // the broker has not noticed yet
    await expect.poll(() => heard.has(`${round}, to the dead connection`), WAIT).toBe(true);
    await expect.poll(() => alone, WAIT).toBe(round + 1);
    expect(await sender.inspect(name)).toEqual({ consumers: 1, messages: 0 });
  }
});
