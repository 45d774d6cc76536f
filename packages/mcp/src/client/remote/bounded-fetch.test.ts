import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { boundedFetch } from "./bounded-fetch.ts";

test.each(["identity", "gzip"])("a 205 that sends %s without an end is let go of", async (encoding) => {
  const closed = Promise.withResolvers<void>();
  const server = createServer((_, response) => {
    response.writeHead(205, { "content-encoding": encoding, "transfer-encoding": "chunked" });
    response.flushHeaders();
    const sending = setInterval(() => response.write("no gzip"), 5);
    response.on("close", () => {
      clearInterval(sending);
      closed.resolve();
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;

  const response = await boundedFetch()(url, { method: "POST", body: "{}", redirect: "manual" });

  expect([response.status, await response.text()]).toEqual([205, ""]);
  await closed.promise;
});
