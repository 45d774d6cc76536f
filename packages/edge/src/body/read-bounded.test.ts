import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { BodyTooLargeError, readBounded, readIncoming } from "./read-bounded.ts";

const bodyOf = (...sizes: number[]): Readable => Readable.from(sizes.map((size) => Buffer.alloc(size, "x")));

test.each([[[]], [[4]], [[1, 3]]])("reads a body of chunks %j up to the limit", async (sizes) => {
  await expect(readBounded(bodyOf(...sizes), 4)).resolves.toHaveLength(sizes.reduce((sum, size) => sum + size, 0));
});

test("ends a body as soon as more has come than is taken", async () => {
  const body = bodyOf(4, 1, 1_000);

  await expect(readBounded(body, 4)).rejects.toThrow(BodyTooLargeError);
  expect(body.destroyed).toBe(true);
});

test("a request whose client was gone before it is read is refused, and not waited for", async () => {
  const closed = Promise.withResolvers<IncomingMessage>();
  await using server = createServer((incoming) => {
    incoming.on("error", () => {}).on("close", () => closed.resolve(incoming));
    client.destroy();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.write("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc");
  await expect(readIncoming(await closed.promise, 100)).rejects.toThrow("the connection has ended");
});
