import { createServer } from "node:net";
import { BusUnavailableError, silentLogger } from "@rockbot/bus";
import { ownVirtualHost, sharedAmqpUrl, startTcpFaultProxy } from "@rockbot/testing";
import { expect, test } from "vitest";
import { connectBus } from "./rabbitmq-bus.ts";

const url = await sharedAmqpUrl();

test("fails at once when the broker refuses the password, and does not repeat it", async () => {
  const wrong = new URL(url);
  wrong.password = "s3cret-but-wrong";
  const start = performance.now();
  const connecting = connectBus(wrong.href, { connectTimeoutMs: 15_000 });
  await expect(connecting).rejects.toThrow(BusUnavailableError);
  await expect(connecting).rejects.toThrow(/refuse/i);
  await expect(connecting).rejects.not.toThrow(/s3cret/);
  expect(performance.now() - start).toBeLessThan(8_000); // the broker itself waits a second or so before it says no
});

test("waits for a user that the broker does not know yet, if it is told so", { timeout: 60_000 }, async () => {
  await using host = await ownVirtualHost();
  const later = Object.assign(new URL(host.url), {
    username: `later-${host.name.replace("/", "own")}`,
    password: "of-a-new-user",
  });
  const refusals = Promise.withResolvers<void>();
  const log = { ...silentLogger, error: () => refusals.resolve() };
  const connecting = connectBus(later.href, { waitsForRights: true, connectTimeoutMs: 45_000, log });
  await refusals.promise;
  await host.importDefinitions({
    users: [{ name: later.username, password: later.password, tags: "" }],
    permissions: [{ user: later.username, vhost: host.name, configure: ".*", write: ".*", read: ".*" }],
  });
  await using bus = await connecting;
  expect(bus.isReady).toBe(true);
});

test("says which virtual host the broker refuses", async () => {
  const wrong = new URL(url);
  wrong.pathname = "/nowhere";
  await expect(connectBus(wrong.href, { connectTimeoutMs: 500 })).rejects.toThrow(/refuses the virtual host "nowhere"/);
});

test("keeps trying until its time is over when nobody listens, and says where", async () => {
  const start = performance.now();
  await expect(connectBus("amqp://user:s3cret@127.0.0.1:1/", { connectTimeoutMs: 600 })).rejects.toThrow(
    /^Cannot reach the bus within 600 ms: there is no connection to amqp:\/\/127\.0\.0\.1:1\/ \(connect ECONNREFUSED/,
  );
  expect(performance.now() - start).toBeGreaterThan(500);
});

test("gives up on a peer that accepts and says nothing", async () => {
  await using proxy = await startTcpFaultProxy(url);
  proxy.setSilent(true);
  await expect(connectBus(proxy.through(url), { connectTimeoutMs: 1_000 })).rejects.toThrow(BusUnavailableError);
});

test("gives up on a peer that speaks another language", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await expect(connectBus(`amqp://127.0.0.1:${port}`, { connectTimeoutMs: 1_000 })).rejects.toThrow(
    BusUnavailableError,
  );
  server.close();
});

test("connects through a slow link", async () => {
  await using proxy = await startTcpFaultProxy(url);
  proxy.setDelay(50);
  await using bus = await connectBus(proxy.through(url));
  expect(bus.isReady).toBe(true);
});
