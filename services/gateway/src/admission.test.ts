import { connect } from "node:net";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { admission } from "./admission.ts";
import type { GatewayEnv } from "./guard.ts";
import { serveHttp } from "./http-server.ts";

const WAIT = { timeout: 10_000, interval: 20 };

test("a client that does not read its answer is cut off, and its place is free again", async () => {
  const app = new Hono<GatewayEnv>();
  app.use(admission({ maxConcurrent: 1, answerMs: 3000 }));
  app.onError((_, c) => c.text("full", 503));
  app.get("/large", (c) => c.body(new Uint8Array(64 * 1024 * 1024)));
  app.get("/small", (c) => c.text("ok"));
  await using server = await serveHttp(app, { host: "127.0.0.1", port: 0 });
  const small = async (): Promise<number> => (await fetch(`http://127.0.0.1:${server.port}/small`)).status;

  const client = connect(server.port, "127.0.0.1");
  client.pause();
  client.write("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await expect.poll(small, WAIT).toBe(503);
  await expect.poll(small, WAIT).toBe(200);
  client.destroy();
});
