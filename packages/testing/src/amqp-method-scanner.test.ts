import { expect, test } from "vitest";
import { AmqpMethodScanner } from "./amqp-method-scanner.ts";

function frame(type: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(7);
  head.writeUInt8(type, 0);
  head.writeUInt16BE(1, 1);
  head.writeUInt32BE(payload.length, 3);
  return Buffer.concat([head, payload, Buffer.from([0xce])]);
}

const heartbeat = frame(8, Buffer.alloc(0));
const queueDeclare = frame(1, Buffer.from([0, 50, 0, 10, 1, 2, 3, 4, 5]));
const unknown = frame(1, Buffer.from([0, 99, 0, 99]));
// A body that looks like a method must not be taken for one.
const body = frame(3, queueDeclare);
const stream = Buffer.concat([
  Buffer.from("AMQP\0\0\x09\x01"),
  heartbeat,
  queueDeclare,
  body,
  unknown,
  heartbeat,
  queueDeclare,
]);
const starts = [
  8 + heartbeat.length,
  8 + heartbeat.length + queueDeclare.length + body.length,
  stream.length - queueDeclare.length,
];

test.each([1, 2, 3, 7, 11, 1_000])("finds the methods of a client in chunks of %i bytes", (size) => {
  const scanner = new AmqpMethodScanner({ isClient: true });
  const found: [string | undefined, number, number][] = [];
  for (let offset = 0; offset < stream.length; offset += size) {
    for (const { method, start, bytes } of scanner.scan(stream.subarray(offset, offset + size)))
      found.push([method, offset + start, bytes]);
  }
  expect(found).toEqual([
    ["queue.declare", starts[0], queueDeclare.length],
    [undefined, starts[1], unknown.length],
    ["queue.declare", starts[2], queueDeclare.length],
  ]);
});
