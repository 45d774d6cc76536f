import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, test } from "vitest";
import { sendStream } from "./send-stream.ts";

/** A server whose every answer is this body, and a client that sends a request and does as it likes. */
async function startStream(body: ReadableStream<Uint8Array>, stallMs: number) {
  const sent = Promise.withResolvers<ServerResponse>();
  const server = createServer((_, outgoing) => {
    const response = new Response(body, { headers: { "content-type": "text/event-stream" } });
    void sendStream(outgoing, response, { headers: { "x-of-all": "yes" }, stallMs }).then(() => sent.resolve(outgoing));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    connect: () => connect(port, "127.0.0.1"),
    /** Resolves when sending is over. */
    sent: sent.promise,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A body that never ends, of which is known how much was taken, and whether it was cancelled. */
function endless(chunkBytes: number) {
  const taken = { bytes: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        taken.bytes += chunkBytes;
        controller.enqueue(new Uint8Array(chunkBytes));
      },
      cancel() {
        taken.isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, taken };
}

test("a body is sent with the headers of every answer, to its end", async () => {
  await using stream = await startStream(new Blob(["one", "two"]).stream(), 30_000);
  const answer = await fetch(stream.url);
  expect([await answer.text(), answer.headers.get("content-type"), answer.headers.get("x-of-all")]).toEqual([
    "onetwo",
    "text/event-stream",
    "yes",
  ]);
});

test("a client that does not read is cut off, and no more is taken for it than fits on the way", {
  timeout: 60_000,
}, async () => {
  const { body, taken } = endless(64 * 1024);
  await using stream = await startStream(body, 200);
  const socket = stream.connect();
  socket.pause();
  socket.on("error", () => {});
  socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");

  expect((await stream.sent).destroyed).toBe(true);
  expect(taken.isCancelled).toBe(true);
  expect(taken.bytes).toBeLessThan(64 * 1024 * 1024);
  socket.destroy();
});

test("a body is cancelled when its client goes away while it is silent", { timeout: 60_000 }, async () => {
  let isCancelled = false;
  const silent = new ReadableStream<Uint8Array>({
    cancel() {
      isCancelled = true;
    },
  });
  await using stream = await startStream(silent, 30_000);
  const socket = stream.connect();
  socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await new Promise((resolve) => socket.once("data", resolve)); // the headers
  socket.destroy();

  await stream.sent;
  expect(isCancelled).toBe(true);
});
