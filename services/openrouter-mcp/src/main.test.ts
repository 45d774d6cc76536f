import { join } from "node:path";
import { startNodeProgram } from "@rockbot/testing";
import { expect, test } from "vitest";

const startMain = (env: Record<string, string>) =>
  startNodeProgram(join(import.meta.dirname, "../../main.ts"), { args: ["openrouter-mcp"], env });

test("without a token and a key, or with wrong settings, the process ends with code 2 and every fault", async () => {
  await using bare = startMain({});
  await using wrong = startMain({
    MCP_TOKEN: "canary",
    OPENROUTER_API_KEY: "canary-key",
    PORT: "x",
    OPENROUTER_BASE_URL: "https://user:canary@host/",
  });
  expect([await bare.ended, bare.stderr()]).toEqual([
    2,
    expect.stringMatching(/2 faults\n[\s\S]*MCP_TOKEN[\s\S]*OPENROUTER_API_KEY/),
  ]);
  expect([await wrong.ended, wrong.stderr()]).toEqual([
    2,
    expect.stringMatching(/MCP_TOKEN[\s\S]*PORT|PORT[\s\S]*MCP_TOKEN/),
  ]);
  expect(wrong.stderr()).toContain("openrouterBaseUrl");
  expect(wrong.stderr()).not.toContain("canary");
});

test("it serves, says how it is, and ends by SIGTERM with code 0, without its secrets in its log", async () => {
  await using main = startMain({
    PORT: "0",
    HEALTH_PORT: "0",
    MCP_TOKEN: "canary-token-canary-token",
    OPENROUTER_API_KEY: "canary-key",
  });
  await expect.poll(main.stdout, { timeout: 15_000 }).toContain('"msg":"ready"');
  const url = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(main.stdout())?.[0] ?? "";
  expect((await fetch(url, { method: "POST" })).status).toBe(401);
  main.kill("SIGTERM");
  expect([await main.ended, main.stderr()]).toEqual([0, ""]);
  expect(main.stdout()).not.toContain("canary");
});
