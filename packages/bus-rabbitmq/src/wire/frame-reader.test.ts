import { randomBytes } from "node:crypto";
import { sharedAmqpUrl } from "@rockbot/testing";
import { connect, type Options } from "amqplib";
import { expect, test } from "vitest";
import { internalsOf, numberOf, readingOf } from "./amqplib-internals.ts";
import { FrameReader } from "./frame-reader.ts";
import type { IncomingMessage } from "./read-frames.ts";

const url = await sharedAmqpUrl();

/** What amqplib publishes to a queue, and we read. */
async function open() {
  const connection = await connect(url);
  const channel = await connection.createConfirmChannel();
  const reader = new FrameReader(readingOf(connection), internalsOf(connection).frameMax);
  const { queue } = await channel.assertQueue("", { exclusive: true });
  const received: IncomingMessage[] = [];
  reader.listen(numberOf(channel), { onMessage: (message) => received.push(message) });
  await channel.consume(queue, () => received.splice(0), { noAck: true }); // amqplib must hear of none
  const send = (body: Buffer, options: Options.Publish = {}) => channel.sendToQueue(queue, body, options);
  return { connection, channel, queue, received, send, [Symbol.asyncDispose]: () => connection.close() };
}

test("reads each property as amqplib wrote it, in ASCII or not, message after message", async () => {
  await using from = await open();
  const properties = {
    contentType: "application/json",
    contentEncoding: "identity",
    headers: { "rb-source": "me", "rb-größe": "ä✓😀".repeat(100), empty: "", "rb-long": "x".repeat(20_000) },
    correlationId: "c".repeat(255),
    replyTo: "tool.result.ö",
    expiration: "60000",
    messageId: "m-1",
    timestamp: 2 ** 40 + 5,
    type: "T",
  };
  from.send(Buffer.from("{}"), { ...properties, priority: 3, persistent: true, appId: "read by nobody" });
  from.send(Buffer.from("{}"), { ...properties, type: "U", replyTo: "tool.result.o" });
  from.send(Buffer.alloc(0));
  await expect.poll(() => from.received.length).toBe(3);
  const [first, second, bare] = from.received as [IncomingMessage, IncomingMessage, IncomingMessage];
  expect(first).toEqual({
    fields: { deliveryTag: 1, redelivered: false, routingKey: from.queue },
    properties: { ...properties, userId: undefined },
    content: Buffer.from("{}"),
  });
  expect(second.properties).toEqual({ ...properties, type: "U", replyTo: "tool.result.o", userId: undefined });
  expect([bare.fields.deliveryTag, bare.content.byteLength, bare.properties.headers]).toEqual([3, 0, {}]);
});

test("headers that are no texts are read by amqplib", async () => {
  await using from = await open();
  const headers = { text: "a", number: 5, list: [{ "x-first": "b" }], table: { deep: true } };
  from.send(Buffer.from("odd"), { headers, correlationId: "c" });
  from.send(Buffer.from("even"), { headers: { text: "a" } });
  await expect.poll(() => from.received.length).toBe(2);
  expect(from.received[0]?.properties).toMatchObject({ headers, correlationId: "c" });
  expect(from.received.map(({ content }) => content.toString())).toEqual(["odd", "even"]);
});

test("bodies of any size arrive whole and in order, and amqplib gets its own answers between them", async () => {
  await using from = await open();
  const bodies = [1, 131_064, 131_065, 700_000, 0, 262_128, 3].map((size) => randomBytes(size));
  for (const body of bodies) from.send(body);
  await from.channel.waitForConfirms();
  expect((await from.channel.checkQueue(from.queue)).consumerCount).toBe(1);
  await expect.poll(() => from.received.length, { timeout: 5_000 }).toBe(bodies.length);
  expect(from.received.map(({ content }) => content.toString("base64"))).toEqual(
    bodies.map((body) => body.toString("base64")),
  );
});

test("a message that comes back, and what comes on channels nobody listens to, are amqplib's", async () => {
  await using from = await open();
  const other = await from.connection.createChannel();
  const returned = Promise.withResolvers<string>();
  other.on("return", ({ content }) => returned.resolve(content.toString()));
  other.publish("", "nowhere.at.all", Buffer.from("back"), { mandatory: true });
  expect(await returned.promise).toBe("back");
  from.send(Buffer.from("fetched"));
  await expect.poll(() => from.received.length).toBe(1);
});

/** A frame of the broker. */
function frame(type: number, payload: Buffer): Buffer {
  const head = Buffer.from([type, 0, 1, 0, 0, 0, 0]);
  head.writeUInt32BE(payload.byteLength, 3);
  return Buffer.concat([head, payload, Buffer.from([0xce])]);
}

const deliver = Buffer.from("\0\x3c\0\x3c\x01c\0\0\0\0\0\0\0\x07\x01\0\x03a.b", "latin1");
const header = Buffer.from("\0\x3c\0\0\0\0\0\0\0\0\0\x05\0\x20\x01T", "latin1");
const stream = Buffer.concat([
  frame(1, deliver),
  frame(2, header),
  frame(3, Buffer.from("hel")),
  frame(3, Buffer.from("lo")),
]);

/** Reads what comes in these pieces. @returns the bodies, and how many frames went to amqplib */
function readPieces(pieces: Buffer[]): { readonly bodies: string[]; readonly handedOn: number } {
  const bodies: string[] = [];
  let next: () => unknown = () => false;
  let handedOn = 0;
  const reader = new FrameReader(
    {
      takeOver: (read) => {
        next = read;
        return Buffer.alloc(0);
      },
      read: () => pieces.shift() ?? null,
      decode: () => {
        handedOn++;
        return { fields: {} };
      },
    },
    1_000,
  );
  reader.listen(1, { onMessage: ({ content }) => bodies.push(content.toString()) });
  while (next() !== false);
  return { bodies, handedOn };
}

test.each([1, 2, 3, 7, 8, 20, 1_000])("it does not matter that bytes come %d at a time", (size) => {
  const all = Buffer.concat([stream, frame(8, Buffer.alloc(0)), stream]);
  const pieces = Array.from({ length: Math.ceil(all.byteLength / size) }, (_, index) =>
    all.subarray(index * size, (index + 1) * size),
  );
  expect(readPieces(pieces)).toEqual({ bodies: ["hello", "hello"], handedOn: 1 });
});

test.each([
  ["a frame that is larger than agreed", frame(1, Buffer.alloc(1_001)), /frame of 1001 bytes/],
  ["a frame without an end", Buffer.concat([frame(1, deliver).subarray(0, -1), Buffer.alloc(1)]), /without an end/],
  ["a field that is longer than its frame", frame(1, deliver.subarray(0, 16)), /ends in the middle/],
  [
    "more of a body than announced",
    Buffer.concat([frame(1, deliver), frame(2, header), frame(3, Buffer.alloc(6))]),
    /more of a message/,
  ],
])("%s is no message", (_what, bytes, fault) => {
  expect(() => readPieces([bytes])).toThrow(fault);
});
