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
  await using main = startMain({ ALLOW_ADDRESSES: "nonsense,also" });
  await using invalid = startMain({ MAX_SEARCH_RESULTS: "99", BRAVE_BASE_URL: "ftp://x", BRAVE_API_KEY: "not printed" });

  expect(await main.ended).toEqual({ code: 2, stderr: expect.stringMatching(/2 faults\n +allowAddresses\.0: .*\n +allowAddresses\.1: /) });
  const { code, stderr } = await invalid.ended;
  expect([code, stderr]).toEqual([2, expect.stringMatching(/maxSearchResults, from the variable MAX_SEARCH_RESULTS/)]);
  expect(stderr).toMatch(/braveBaseUrl/);
  expect(stderr).toMatch(/braveApiKey/);
  expect(stderr).not.toContain("not printed");
});

test("it serves until SIGTERM, and ends with code 0", async () => {
  await using main = startMain({ BRAVE_API_KEY: "canary-key" });
  let log = "";
  main.child.stdout.setEncoding("utf8").on("data", (chunk: string) => (log += chunk));
  await expect.poll(() => log, { timeout: 10_000 }).toContain('"msg":"ready"');
  main.child.kill("SIGTERM");

  expect(await main.ended).toEqual({ code: 0, stderr: "" });
  expect(log).not.toContain("canary");
});
