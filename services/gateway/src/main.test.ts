import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  freePort,
  sharedAmqpUrl,
  startNodeProgram,
  startOwnRedis,
  startTcpFaultProxy,
  temporaryFolder,
} from "@rockbot/testing";
import { expect, test } from "vitest";

const startMain = (env: Record<string, string>) =>
  startNodeProgram(join(import.meta.dirname, "../../main.ts"), { args: ["gateway"], env });

test("a wrong configuration ends the process with code 2 and every fault", async () => {
  await using main = startMain({
    HOST: "0.0.0.0",
    CALL_TIMEOUT_MS: "5000",
    MAX_CALL_TIMEOUT_MS: "1000",
    A2A_PUSH: "true",
  });
  await using invalid = startMain({ PORT: "x", GATEWAY_TOKEN: "canary", ALLOWED_ORIGINS: "null" });

  expect([await main.ended, main.stderr()]).toEqual([
    2,
    expect.stringMatching(
      /3 faults\n +gatewayToken: is required.*\n +callTimeoutMs: expected at most maxCallTimeoutMs.*\n +a2aPush: has no effect without a2aUrl/,
    ),
  ]);
  const code = await invalid.ended;
  const stderr = invalid.stderr();
  expect([code, stderr]).toEqual([2, expect.stringMatching(/port, from the variable PORT/)]);
  expect(stderr).toMatch(/gatewayToken, from the variable GATEWAY_TOKEN/);
  expect(stderr).toMatch(/allowedOrigins\.0, from the variable ALLOWED_ORIGINS/);
  expect(stderr).not.toContain("canary");
});

test("a token that has changed in its file holds without a restart, and the old one no more", {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  const file = folder.write("token", "the-token-of-before");
  await using main = startMain({ PORT: "0", GATEWAY_TOKEN_FILE: file });
  await expect.poll(main.stdout, { timeout: 60_000 }).toContain('"msg":"ready"');
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(main.stdout())?.[0] ?? "";
  const statusOf = async (token: string) =>
    (await fetch(`${url}/v1/tools`, { headers: { authorization: `Bearer ${token}` } })).status;
  expect([await statusOf("the-token-of-before"), await statusOf("the-token-of-now")]).toEqual([200, 401]);
  await writeFile(file, "the-token-of-now");
  await expect.poll(() => statusOf("the-token-of-now"), { timeout: 30_000, interval: 500 }).toBe(200);
  expect(await statusOf("the-token-of-before")).toBe(401);
});

test("refusals are counted from zero, so that Prometheus sees the first burst of them", async () => {
  const port = await freePort();
  await using main = startMain({ PORT: "0", GATEWAY_TOKEN: "canary-token-canary-token", HEALTH_PORT: String(port) });
  await expect.poll(main.stdout, { timeout: 60_000 }).toContain('"msg":"ready"');
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  for (const reason of ["unauthorized", "denied", "bad_request", "rate_limited"])
    expect(metrics).toMatch(new RegExp(`^rockbot_gateway_refusals_total\\{.*reason="${reason}".*\\} 0$`, "m"));
});

test("it serves until SIGTERM, and ends with code 0", async () => {
  await using main = startMain({ PORT: "0", GATEWAY_TOKEN: "canary-token-canary-token" });
  await expect.poll(main.stdout, { timeout: 60_000 }).toContain('"msg":"ready"');
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(main.stdout())?.[0] ?? "";
  const statuses = await Promise.all(
    ["/healthz", "/readyz", "/v1/tools"].map(async (path) => (await fetch(url + path)).status),
  );
  main.kill("SIGTERM");

  expect(statuses).toEqual([200, 200, 401]);
  expect([await main.ended, main.stderr()]).toEqual([0, ""]);
  expect(main.stdout()).not.toContain("canary");
});

test("it is ready once it has reached Redis, and stays so when the broker and Redis go, and then says in words that calls cannot be carried", {
  timeout: 120_000,
}, async () => {
  await using redis = await startOwnRedis();
  await redis.kill();
  await using proxy = await startTcpFaultProxy(await sharedAmqpUrl());
  const [port, health] = [await freePort(), await freePort()];
  await using main = startMain({
    PORT: String(port),
    HEALTH_PORT: String(health),
    BUS_URL: proxy.through(await sharedAmqpUrl()),
    REDIS_URL: redis.url,
    AGENT_NAME: `gate-${port}`,
    CALL_TIMEOUT_MS: "2000",
  });
  await expect.poll(main.stdout, { timeout: 60_000 }).toContain('"msg":"ready"');
  const ready = async () => {
    const answer = await fetch(`http://127.0.0.1:${health}/readyz`);
    return [answer.status, await answer.json()];
  };
  expect(await ready()).toEqual([
    503,
    { status: "not ready", reasons: ["Redis has not been reached since the start"] },
  ]);
  await redis.restart();
  await expect.poll(ready, { timeout: 60_000 }).toEqual([200, { status: "ready" }]);

  await redis.kill();
  proxy.setSilent(true);
  proxy.cutAll();
  await expect.poll(main.stdout, { timeout: 60_000 }).toContain("no connection to the broker");
  expect([await ready(), (await fetch(`http://127.0.0.1:${port}/readyz`)).status]).toEqual([
    [200, { status: "ready" }],
    200,
  ]);
  const answer = await fetch(`http://127.0.0.1:${port}/v1/tools/echo/invoke`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  expect([answer.status, await answer.json()]).toEqual([
    503,
    expect.objectContaining({ code: "unavailable", isRetryable: true }),
  ]);
});
