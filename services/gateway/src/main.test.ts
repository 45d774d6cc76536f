import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

/** The service's own process. */
function startMain(env: Record<string, string>) {
  const child = spawn(process.execPath, [join(import.meta.dirname, "main.ts")], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = Promise.all([once(child, "close"), text(child.stderr)]).then(([[code], stderr]) => ({ code: code as number | null, stderr }));
  return {
    child,
    ended,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

test("a wrong configuration ends the process with code 2 and every fault", async () => {
  await using main = startMain({ HOST: "0.0.0.0", CALL_TIMEOUT_MS: "5000", MAX_CALL_TIMEOUT_MS: "1000" });
  await using invalid = startMain({ PORT: "x", GATEWAY_TOKEN: "canary", ALLOWED_ORIGINS: "null" });

  expect(await main.ended).toEqual({
    code: 2,
    stderr: expect.stringMatching(/2 faults\n +gatewayToken: is required.*\n +callTimeoutMs: expected at most maxCallTimeoutMs/),
  });
  const { code, stderr } = await invalid.ended;
  expect([code, stderr]).toEqual([2, expect.stringMatching(/port, from the variable PORT/)]);
  expect(stderr).toMatch(/gatewayToken, from the variable GATEWAY_TOKEN/);
  expect(stderr).toMatch(/allowedOrigins\.0, from the variable ALLOWED_ORIGINS/);
  expect(stderr).not.toContain("canary");
});

test("it serves until SIGTERM, and ends with code 0", async () => {
  await using main = startMain({ PORT: "0", GATEWAY_TOKEN: "canary-token-canary-token" });
  let log = "";
  main.child.stdout.setEncoding("utf8").on("data", (chunk: string) => (log += chunk));
  await expect.poll(() => log, { timeout: 10_000 }).toContain('"msg":"ready"');
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(log)?.[0] ?? "";
  const statuses = await Promise.all(["/healthz", "/readyz", "/v1/tools"].map(async (path) => (await fetch(url + path)).status));
  main.child.kill("SIGTERM");

  expect(statuses).toEqual([200, 200, 401]);
  expect(await main.ended).toEqual({ code: 0, stderr: "" });
  expect(log).not.toContain("canary");
});
