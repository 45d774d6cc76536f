import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { floodSockets } from "@rockbot/testing";
import { expect, test } from "vitest";
import type { Readiness } from "./health-answer.ts";
import { serveHealth } from "./serve-health.ts";

const ready = (): Readiness => true;
const metrics = async (): Promise<string> => "up 1\n";

test("each path says its part", async () => {
  await using server = await serveHealth({ port: 0, ready, metrics });
  const get = async (path: string, init?: RequestInit) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, init);
    return { status: response.status, type: response.headers.get("content-type"), body: await response.text() };
  };

  expect(await get("/healthz")).toEqual({ status: 200, type: "application/json", body: '{"status":"ok"}\n' });
  expect(await get("/readyz?verbose")).toEqual({ status: 200, type: "application/json", body: '{"status":"ready"}\n' });
  expect(await get("/metrics")).toEqual({
    status: 200,
    type: "text/plain; version=0.0.4; charset=utf-8",
    body: "up 1\n",
  });
  expect(await get("/metrics", { method: "HEAD" })).toMatchObject({ status: 200, body: "" });
  expect(await get("/")).toMatchObject({ status: 404 });
  expect(await get("/healthz", { method: "POST", body: "x".repeat(100_000) })).toMatchObject({ status: 405 });
});

test("/readyz gives the reasons while the service is not ready", async () => {
  let readiness: Readiness = false;
  await using server = await serveHealth({ port: 0, ready: () => readiness, metrics });
  const readyz = async () => {
    const response = await fetch(`http://127.0.0.1:${server.port}/readyz`);
    return [response.status, await response.json()];
  };

  expect(await readyz()).toEqual([503, { status: "not ready", reasons: [] }]);
  readiness = ["bus: not connected", "draining"];
  expect(await readyz()).toEqual([503, { status: "not ready", reasons: ["bus: not connected", "draining"] }]);
  readiness = [];
  expect(await readyz()).toEqual([200, { status: "ready" }]);
});

test("a check or a collection that throws is answered, without its words", async () => {
  await using server = await serveHealth({
    port: 0,
    ready: () => {
      throw new Error("canary");
    },
    metrics: () => Promise.reject(new Error("canary")),
  });

  for (const path of ["/readyz", "/metrics"]) {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    expect([response.status, await response.text()]).toEqual([503, "This could not be answered now. Try again\n"]);
  }
});

test("a header block that is too large, and a request that never ends, are cut off", { timeout: 15_000 }, async () => {
  await using server = await serveHealth({ port: 0, ready, metrics });
  const large = await fetch(`http://127.0.0.1:${server.port}/healthz`, { headers: { cookie: "x".repeat(10_000) } });
  const slow = connect({ port: Number(server.port), host: "127.0.0.1" });
  slow.write("GET /healthz HTTP/1.1\r\n");
  slow.resume();
  const closed = await Promise.race([once(slow, "close"), setTimeout(10_000, "open", { ref: false })]);

  expect(large.status).toBe(431);
  expect(closed).not.toBe("open");
});

test("2 100 silent connections keep no probe out", { timeout: 60_000 }, async () => {
  await using server = await serveHealth({ port: 0, ready, metrics });
  using _flood = await floodSockets({ port: Number(server.port), host: "127.0.0.1" }, 2100, "silent");

  for (const path of ["/healthz", "/readyz", "/metrics"])
    expect((await fetch(`http://127.0.0.1:${server.port}${path}`)).status).toBe(200);
});

test("the metrics are collected once for all who ask meanwhile", async () => {
  const collected = Promise.withResolvers<string>();
  let times = 0;
  await using server = await serveHealth({
    port: 0,
    ready,
    metrics: () => {
      times++;
      return collected.promise;
    },
  });
  const ask = async (path: string) => (await fetch(`http://127.0.0.1:${server.port}${path}`)).text();
  const asked = Array.from({ length: 10 }, () => ask("/metrics"));
  await expect.poll(() => times).toBe(1);
  for (let i = 0; i < 10; i++) await ask("/healthz"); // those that asked before have been read by then
  collected.resolve("up 1\n");

  expect(await Promise.all(asked)).toEqual(Array(10).fill("up 1\n"));
  expect(times).toBe(1);
});

test("disposal closes idle connections and does not wait for an answer that hangs", async () => {
  const server = await serveHealth({ port: 0, ready, metrics: () => new Promise(() => {}) });
  const url = `http://127.0.0.1:${server.port}`;
  await (await fetch(`${url}/healthz`)).text(); // leaves an idle connection
  const hanging = fetch(`${url}/metrics`).catch(() => "cut off");
  await fetch(`${url}/readyz`);
  await Promise.all([server[Symbol.asyncDispose](), server[Symbol.asyncDispose]()]); // the answer never comes

  expect(await hanging).toBe("cut off");
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});

test("nothing is served without a port", async () => {
  await using server = await serveHealth({ port: undefined, ready, metrics });

  expect(server.port).toBeUndefined();
});

test("a port that is taken is an error that names the setting, and the address in brackets if it has colons", async () => {
  await using server = await serveHealth({ port: 0, ready, metrics });

  await expect(serveHealth({ port: server.port, ready, metrics })).rejects.toThrow(
    `HEALTH_PORT: Cannot listen on 127.0.0.1:${server.port}: EADDRINUSE. Free the port or choose another`,
  );
  await expect(serveHealth({ port: 1, host: "2001:db8::1", ready, metrics })).rejects.toThrow(
    "HEALTH_PORT: Cannot listen on [2001:db8::1]:1: ",
  );
});
