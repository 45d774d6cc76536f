import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { freePort, gatewayClient, ownVirtualHost } from "@rockbot/testing";
import { expect, test } from "vitest";
import { type RunningProcess, startProgram, startService } from "./start-service.ts";

/** A page on loopback. */
async function startPage() {
  const server = createServer((_, response) =>
    response
      .writeHead(200, { "content-type": "text/html" })
      .end("<title>A page</title><main><p>From a page of our own.</p></main>"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address,
    url: `http://${address}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("services in processes of their own: a call reaches them, and one that is gone is unavailable at once, until it is back", {
  timeout: 180_000,
}, async () => {
  await using broker = await ownVirtualHost();
  await using page = await startPage();
  const webToolsEnv = { BUS_URL: broker.url, ALLOW_ADDRESSES: page.address };
  const [gatewayHealth, webToolsHealth] = [await freePort(), await freePort()];
  await using gateway = await startService("gateway", {
    BUS_URL: broker.url,
    PORT: "0",
    HEALTH_PORT: String(gatewayHealth),
  });
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(gateway.stdout())?.[0] ?? "";

  async function call(
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const { status, body } = await gatewayClient(url).call("web_browse", { url: page.url }, headers);
    return { status, body: body as Record<string, unknown> };
  }
  const expectAnswer = async (): Promise<void> => {
    await expect
      .poll(async () => (await call()).body, { timeout: 10_000 })
      .toMatchObject({ content: expect.stringContaining("From a page of our own.") });
  };
  const expectUnavailable = async (): Promise<void> => {
    const { status, body } = await call(); // and no `timeout` at the deadline of 60 s
    expect([status, body]).toEqual([503, expect.objectContaining({ code: "unavailable", isRetryable: true })]);
  };

  expect((await call()).body).toMatchObject({ code: "unavailable" }); // known, and served by nobody yet
  await using stopped: RunningProcess = await startService("web-tools", {
    ...webToolsEnv,
    HEALTH_PORT: String(webToolsHealth),
  });
  await expectAnswer();

  const metricsOf = async (port: number): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const served = await metricsOf(webToolsHealth);
  expect(served).toMatch(/^rockbot_tool_invocations\w*\{.*\} \d+$/m);
  expect(served).toMatch(/^rockbot_tool_invoke_duration\w*_count\{.*\} \d+$/m);
  expect(await metricsOf(gatewayHealth)).toMatch(/^rockbot_tool_calls(_total)?\{.*\} \d+$/m);

  // The command goes through the broker as well.
  await using command = startProgram("packages/cli/src/main.ts", {
    args: ["call", "web_browse", JSON.stringify({ url: page.url }), "--bus", broker.url],
  });
  expect(await command.ended, command.stderr()).toBe(0);
  expect(command.stdout()).toContain("From a page of our own.");

  stopped.kill("SIGTERM");
  expect(await stopped.ended, stopped.stdout()).toBe(0);
  await expectUnavailable();

  await using killed = await startService("web-tools", webToolsEnv);
  await expectAnswer();
  await setTimeout(300); // idle: an answer of just now would still count as a sign of life
  killed.kill("SIGKILL");
  await killed.ended;
  // The broker takes a moment to notice, and a call of that moment waits for who comes next.
  await expect
    .poll(async () => (await call({ "rockbot-timeout-ms": "500" })).body, { timeout: 10_000 })
    .toMatchObject({ code: "unavailable" });
  await expectUnavailable();

  await using _again = await startService("web-tools", webToolsEnv);
  await expectAnswer();
  gateway.kill("SIGTERM");
  expect(await gateway.ended, gateway.stdout()).toBe(0);
});
