import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { BlockedAddressError } from "./guarded-agent.ts";
import { guardedFetch } from "./guarded-fetch.ts";

/** Answers with its path; `/away` redirects. */
async function startServer() {
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    if (request.url === "/away") response.writeHead(307, { location: "/here" }).end();
    else response.end(request.url);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

test("reaches what the operator allows, and follows no redirect", async () => {
  await using server = await startServer();
  const fetch = guardedFetch({ allowAddresses: [`127.0.0.1:${server.port}`] });
  expect(await (await fetch(`http://127.0.0.1:${server.port}/here`)).text()).toBe("/here");
  await expect(fetch(`http://127.0.0.1:${server.port}/away`)).rejects.toThrow("fetch failed");
  expect(server.requests()).toBe(2);
});

test.each([
  "127.0.0.1",
  "localhost",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "2130706433",
  "0x7f.1",
  "0.0.0.0",
  "169.254.169.254",
])("does not reach %s", async (host) => {
  await using server = await startServer();
  const refused = guardedFetch({ allowPorts: [server.port] })(`http://${host}:${server.port}/here`);
  await expect(refused).rejects.toMatchObject({ cause: expect.any(BlockedAddressError) });
  expect(server.requests()).toBe(0);
});
