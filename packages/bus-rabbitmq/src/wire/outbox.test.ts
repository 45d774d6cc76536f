import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { sharedAmqpUrl } from "@rockbot/testing";
import { connect, type Message } from "amqplib";
import { expect, test } from "vitest";
import { internalsOf, numberOf, readingOf } from "./amqplib-internals.ts";
import { FrameReader } from "./frame-reader.ts";
import type { OutgoingMessage } from "./frames.ts";
import { Outbox } from "./outbox.ts";

const url = await sharedAmqpUrl();

/**
 * A channel with a queue of its own, and an outbox for its connection: what one writes, the broker takes and amqplib
 * reads.
 */
async function open({ frameMax = 0 } = {}) {
  const connection = await connect(`${url}?frameMax=${frameMax}`);
  const { socket, frameMax: negotiated } = internalsOf(connection);
  const channel = await connection.createConfirmChannel();
  const { queue } = await channel.assertQueue("", { exclusive: true });
  const received: Message[] = [];
  await channel.consume(queue, (message) => void (message !== null && received.push(message)));
  const outbox = new Outbox(socket, negotiated);
  const verdicts: [number, boolean, boolean][] = [];
  new FrameReader(readingOf(connection), negotiated).listen(numberOf(channel), {
    onVerdict: (...verdict) => verdicts.push(verdict),
  });
  return {
    connection,
    channel,
    queue,
    received,
    outbox,
    verdicts,
    number: numberOf(channel),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

const message = (queue: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  exchange: "",
  routingKey: queue,
  mandatory: false,
  expirationMs: undefined,
  properties: { deliveryMode: 1, headers: {} },
  body: new Uint8Array(),
  ...more,
});

test("amqplib reads each property as it was written, in ASCII or not", async () => {
  await using to = await open();
  const properties = {
    contentType: "application/json",
    contentEncoding: "identity",
    headers: { "rb-source": "me", "rb-größe": "ä✓😀".repeat(100), empty: "", long: "x".repeat(20_000) },
    deliveryMode: 2,
    correlationId: "c".repeat(255),
    replyTo: "tool.result.ö",
    messageId: "",
    timestamp: 2 ** 40 + 5,
    type: "T",
    userId: "guest",
  };
  to.outbox.publish(
    to.number,
    message(to.queue, {
      properties: { ...properties, userId: undefined },
      expirationMs: 60_000,
      body: Buffer.from("{}"),
    }),
  );
  await expect.poll(() => to.received.length).toBe(1);
  expect({ ...to.received[0]?.properties }).toMatchObject({ ...properties, userId: undefined, expiration: "60000" });
  expect(to.received[0]?.content.toString()).toBe("{}");
});

test.each([0, 4096])(
  "bodies of any size arrive whole and in order over frames of at most %d bytes",
  async (frameMax) => {
    await using to = await open({ frameMax });
    const bodies = [0, 1, 4_087, 4_088, 4_089, 8_192, 8_193, 70_000, 131_064, 131_065, 400_000, 3].map((size) =>
      randomBytes(size),
    );
    for (const body of bodies) to.outbox.publish(to.number, message(to.queue, { body }));
    await expect.poll(() => to.received.length, { timeout: 5_000 }).toBe(bodies.length);
    expect(to.received.map(({ content }) => content.toString("base64"))).toEqual(
      bodies.map((body) => body.toString("base64")),
    );
    await expect.poll(() => to.verdicts.at(-1)?.[0]).toBe(bodies.length);
    expect(to.verdicts.every(([, , isTaken]) => isTaken)).toBe(true);
  },
);

test("what cannot be carried is refused by name, and leaves no trace between others", async () => {
  await using to = await open();
  const wrong = [
    { properties: { deliveryMode: 1, headers: {}, correlationId: "é".repeat(128) } },
    { properties: { deliveryMode: 1, headers: { ["k".repeat(256)]: "" } } },
    { properties: { deliveryMode: 1, headers: {}, timestamp: 1.5 } },
    { routingKey: "x".repeat(256) },
    { properties: { deliveryMode: 1, headers: { long: "x".repeat(200_000) } } },
  ];
  const refusals = [
    /correlation id has 256 bytes/,
    /name of a header has 256 bytes/,
    /timestamp is 1.5/,
    /routing key has 256 bytes/,
    /headers have 200\d\d\d bytes/,
  ];
  to.outbox.publish(to.number, message(to.queue, { body: Buffer.from("before") }));
  for (const [index, more] of wrong.entries())
    expect(() => to.outbox.publish(to.number, message(to.queue, more))).toThrow(refusals[index]);
  to.outbox.publish(to.number, message(to.queue, { body: Buffer.from("after") }));
  await expect.poll(() => to.received.map(({ content }) => content.toString())).toEqual(["before", "after"]);
});

test("acknowledges one or all up to one, and gives back", async () => {
  await using to = await open();
  for (const text of ["a", "b", "c", "d"]) to.outbox.publish(to.number, message(to.queue, { body: Buffer.from(text) }));
  await expect.poll(() => to.received.length).toBe(4);
  to.outbox.ack(to.number, 2, true);
  to.outbox.nack(to.number, 3, true);
  to.outbox.nack(to.number, 4, false);
  await expect
    .poll(() => to.received.slice(4).map(({ content, fields }) => [content.toString(), fields.redelivered]))
    .toEqual([["c", true]]);
  to.outbox.ack(to.number, 5, false);
  to.outbox.flush();
  await to.channel.close();
  await using again = await to.connection
    .createChannel()
    .then((channel) => ({ channel, [Symbol.asyncDispose]: () => channel.close() }));
  expect((await again.channel.checkQueue(to.queue)).messageCount).toBe(0);
});

test("a mandatory message without a queue comes back before its confirm", async () => {
  await using to = await open();
  const returned = once(to.channel, "return");
  to.outbox.publish(to.number, message("nowhere.at.all", { mandatory: true }));
  const [back] = (await returned) as [Message];
  expect(back.fields.routingKey).toBe("nowhere.at.all");
  await expect.poll(() => to.verdicts).toEqual([[1, false, true]]);
});

test("writes nothing, and does not throw, once the connection is gone", async () => {
  const to = await open();
  await to.connection.close();
  to.outbox.publish(to.number, message(to.queue));
  to.outbox.flush();
});

test("another version of amqplib is named at once", () => {
  expect(() => internalsOf({ connection: {} } as never)).toThrow(
    /Cannot use the installed version of amqplib: the socket/,
  );
  expect(() => readingOf({ connection: {} } as never)).toThrow(/the reading of frames/);
  expect(() => numberOf({} as never)).toThrow(/the number of a channel/);
});
