import { DeadLetterError } from "@rockbot/bus";
import { sharedAmqpUrl } from "@rockbot/testing";
import { connect } from "amqplib";
import { expect, test } from "vitest";
import { connectBus } from "./rabbitmq-bus.ts";
import { internalsOf, numberOf } from "./wire/amqplib-internals.ts";
import { endBodyFrame, startBodyFrame } from "./wire/frames.ts";

const url = await sharedAmqpUrl();

test.each([
  ["headers that nobody can read", 0x2000, nestedTable(8_000)],
  ["a text that is too long once it is read", 0x0020, Buffer.concat([Buffer.of(255), Buffer.alloc(255, 0xff)])],
])("a message with %s is discarded, and disturbs no other", { timeout: 60_000 }, async (_what, flag, value) => {
  const lines: string[] = [];
  const note = (_fields: object, line: string) => void lines.push(line);
  await using bus = await connectBus(url, { log: { debug() {}, info: note, warn: note, error: note } });
  await using _subscription = await bus.subscribe({ name: "poisoned", topics: ["tool.invoke.poisoned"] }, async () => {
    throw new DeadLetterError("nobody is to be answered");
  });
  await using sender = await rawSender();
  lines.splice(0);
  await sender.publish("tool.invoke.poisoned", flag, value);
  await expect
    .poll(() => lines, { timeout: 20_000 })
    .toEqual(["discarded a message that can be neither handled nor answered"]);
});

test("a message with a time that is no whole number is put aside without it", { timeout: 60_000 }, async () => {
  await using bus = await connectBus(url);
  await using _subscription = await bus.subscribe({ name: "timeless", topics: ["tool.invoke.timeless"] }, async () => {
    throw new DeadLetterError("nobody is to be answered");
  });
  await using sender = await rawSender();
  await sender.publish("tool.invoke.timeless", 0x0040, Buffer.alloc(8, 0xff));
  await expect.poll(() => bus.visitParked("timeless", async () => "remove"), { timeout: 20_000 }).toBe(1);
});

/** A table in a table in a table. */
function nestedTable(depth: number): Buffer {
  const table = Buffer.alloc(6 * depth + 4);
  for (let level = 0; level <= depth; level++) {
    table.writeUInt32BE(6 * (depth - level), 6 * level);
    if (level < depth) table.write("\0F", 6 * level + 4, "latin1");
  }
  return table;
}

/** Publishes messages without a body and with one property that amqplib itself would not write. */
async function rawSender() {
  const connection = await connect(url, { noDelay: true });
  const channel = await connection.createConfirmChannel();
  return {
    async publish(topic: string, flag: number, property: Buffer): Promise<void> {
      const key = Buffer.from(topic);
      const method = Buffer.concat([
        Buffer.from("\0\x3c\0\x28\0\0\x07rockbot", "latin1"),
        Buffer.of(key.byteLength),
        key,
        Buffer.of(0),
      ]);
      const properties = Buffer.concat([Buffer.alloc(14), property]);
      properties.writeUInt16BE(60);
      properties.writeUInt16BE(flag, 12);
      const number = numberOf(channel);
      internalsOf(connection).socket.write(Buffer.concat([frame(1, number, method), frame(2, number, properties)]));
      await channel.checkExchange("rockbot"); // what the broker answers after it has taken the message
    },
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

function frame(type: number, channel: number, payload: Buffer): Buffer {
  const bytes = Buffer.alloc(payload.byteLength + 8);
  const at = startBodyFrame(bytes, 0, channel, payload.byteLength);
  bytes[0] = type;
  payload.copy(bytes, at);
  endBodyFrame(bytes, at + payload.byteLength);
  return bytes;
}
