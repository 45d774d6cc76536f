import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { watchedFetch } from "./watched-fetch.ts";

/** What is read of a server that writes the pieces and then holds the connection open. */
async function read(pieces: readonly string[]): Promise<string> {
  const server = createServer(async (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of pieces) {
      response.write(piece);
      await new Promise(setImmediate);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const ask = watchedFetch({ firstByteMs: 20_000, idleMs: 20_000, subject: "a model", protocol: "openai" });
    return await (await ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).text();
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const delta = 'data: {"text":"data: [DONE]","finish_reason":"stop"}\n\n';
const stop = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

test.each([
  ["[DONE]", [delta, "data: [DONE]\n\n"], `${delta}data: [DONE]\n\n`],
  ["[DONE] with spaces after it", [delta, "data: [DONE]  \r\n\r\n"], `${delta}data: [DONE]\n\n`],
  ["[DONE] in pieces", [`${delta}da`, "ta: [DO", "NE]", " \n\n"], `${delta}data: [DONE]\n\n`],
  ["message_stop", [delta, stop], delta + stop],
  ["message_stop in pieces", [delta, stop.slice(0, 30), stop.slice(30)], delta + stop],
])("an answer ends with %s, and not with its connection", async (_, pieces, expected) => {
  expect(await read(pieces)).toBe(expected);
});

test.each([0, 20])(
  "an answer whose end comes %i ms after its last event leaves its connection to the next",
  async (gapMs) => {
    let connections = 0;
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`${delta}data: [DONE]\n\n`);
      setTimeout(() => response.end(), gapMs);
    });
    server.on("connection", () => connections++);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const ask = watchedFetch({ firstByteMs: 20_000, idleMs: 20_000, subject: "a model", protocol: "openai" });
      // The client reads an answer's end some time after it is sent.
      for (let asked = 0; asked === connections && asked < 100; asked++) {
        await (await ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).text();
        await new Promise((resolve) => setTimeout(resolve, gapMs));
      }
      expect(connections).toBeLessThan(100);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  },
);

test("a connection whose answer never ends is closed soon after the last event", async () => {
  const closed = Promise.withResolvers<void>();
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`${delta}data: [DONE]\n\n`);
    response.on("close", () => closed.resolve());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const ask = watchedFetch({ firstByteMs: 20_000, idleMs: 20_000, subject: "a model", protocol: "openai" });
  await (await ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).text();
  await closed.promise;
  server.close();
});
