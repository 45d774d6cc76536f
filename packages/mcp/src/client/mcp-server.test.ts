import { faultServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import type { McpTool } from "./server-options.ts";
import { callTool, startServer, testEnv } from "./test-servers.ts";

const address = { type: "stdio", env: testEnv, ...faultServer() } as const;

test("as long as it cannot be said what a server offers its tools are away; once it is known that one is not offered, it is unknown", async () => {
  let offered: readonly McpTool[] | undefined;
  await using server = startServer(address, {}, { screen: async () => offered });
  await expect(callTool(server, "echo")).rejects.toMatchObject({
    code: "unavailable",
    isRetryable: true,
    details: { mayHaveRun: false },
  });
  expect([server.health.state, server.isHeard]).toEqual(["ready", false]);
  offered = [];
  await server.screenAgain();
  expect(server.isHeard).toBe(true);
  await expect(callTool(server, "echo")).rejects.toMatchObject({
    code: "tool_not_found",
    details: { mayHaveRun: false },
  });
});

test("a server that says nothing when it is asked for its era does not hold up the end", async () => {
  const server = startServer({ type: "stdio", env: testEnv, ...faultServer("silent") }, { connectTimeoutMs: 60_000 });
  await expect.poll(() => server.health.state).toBe("connecting");
  const from = performance.now();
  await server[Symbol.asyncDispose]();
  expect(performance.now() - from).toBeLessThan(8_000); // the question alone may take 10 s
});
