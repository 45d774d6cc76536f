import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { startPageServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { type ForwardProxyOptions, startForwardProxy } from "./forward-proxy.ts";

/** What a browser does: a plain request by the proxy. */
async function get(proxy: string, url: string) {
  const { hostname, port } = new URL(proxy);
  const sent = request({ hostname, port, path: url, headers: { host: new URL(url).host } });
  sent.end();
  const [response] = await once(sent, "response");
  return { status: response.statusCode, text: await text(response).catch(() => "broken") };
}

/** What it does for TLS and WebSockets: a tunnel, through which it says a line. @returns all that came */
async function tunnel(proxy: string, place: string, line = "") {
  const { hostname, port } = new URL(proxy);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.write(`CONNECT ${place} HTTP/1.1\r\nhost: ${place}\r\n\r\n`);
  if (line !== "") socket.once("data", () => socket.write(line));
  return await text(socket).catch(() => "broken");
}

async function start(
  options: (port: number) => ForwardProxyOptions = (port) => ({ allowAddresses: [`127.0.0.1:${port}`] }),
) {
  const stack = new AsyncDisposableStack();
  const site = stack.use(await startPageServer({ "/": "public", "/large": { body: "x".repeat(300_000) } }));
  const inside = stack.use(await startPageServer({ "/": "secret" }));
  const proxy = stack.use(await startForwardProxy(options(site.port)));
  return { site, inside, proxy, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test("a plain request and a tunnel reach what is permitted", async () => {
  await using scene = await start();
  const { site, proxy } = scene;

  expect(await get(proxy.url, `${site.url}/`)).toEqual({ status: 200, text: "public" });
  const answer = await tunnel(
    proxy.url,
    `127.0.0.1:${site.port}`,
    "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
  );
  expect(answer).toMatch(/^HTTP\/1\.1 200 Connection established\r\n\r\nHTTP\/1\.1 200 OK[\s\S]*public$/);
  expect(proxy.denied).toEqual([]);
});

test("neither reaches anything else, and no connection is made", async () => {
  await using scene = await start();
  const { inside, proxy } = scene;
  const { port } = inside;

  for (const place of [
    `127.0.0.1:${port}`,
    `[::ffff:127.0.0.1]:${port}`,
    `localhost:${port}`,
    "169.254.169.254:80",
    "10.0.0.1:443",
    "example.com:22",
  ]) {
    expect((await tunnel(proxy.url, place)).split("\r\n")[0], place).toBe("HTTP/1.1 403 Forbidden");
    expect((await get(proxy.url, `http://${place}/`)).status, place).toBe(403);
  }
  for (const url of ["https://example.com/", "ftp://example.com/"])
    expect((await get(proxy.url, url)).status).toBe(403);
  expect(inside.connections).toBe(0);
  expect(proxy.denied).toContain(`127.0.0.1:${port}`);
});

test("what is no place, and a place that nobody serves, is answered", async () => {
  await using scene = await start(() => ({ allowAddresses: ["127.0.0.1:1"] }));
  const { proxy } = scene;

  for (const place of ["", "a b:80", "example.com:443/path", "127.0.0.1:1"])
    expect(await tunnel(proxy.url, place), place).toMatch(/^(HTTP\/1\.1 (400|502) .*|)$/m);
  expect((await get(proxy.url, "http://127.0.0.1:1/")).status).toBe(502);
});

test("beyond the bound of bytes every connection ends", async () => {
  await using scene = await start((port) => ({ allowAddresses: [`127.0.0.1:${port}`], maxBytes: 100_000 }));
  const { site, proxy } = scene;

  const all = await get(proxy.url, `${site.url}/large`).catch(() => ({ text: "broken" }));
  expect(all.text.length).toBeLessThan(300_000);
  expect(proxy.isOverLimit).toBe(true);
  await expect(get(proxy.url, `${site.url}/`)).rejects.toThrow();
});

test("an idle tunnel ends", async () => {
  await using scene = await start((port) => ({ allowAddresses: [`127.0.0.1:${port}`], idleTimeoutMs: 200 }));
  const { site, proxy } = scene;

  expect(await tunnel(proxy.url, `127.0.0.1:${site.port}`)).toBe("HTTP/1.1 200 Connection established\r\n\r\n");
});
