import { join } from "node:path";
import { startNodeProgram } from "@rockbot/testing";
import { expect, test } from "vitest";

const startMain = (env: Record<string, string>) =>
  startNodeProgram(join(import.meta.dirname, "../../main.ts"), { args: ["web-tools"], env });

test("a wrong configuration ends the process with code 2 and every fault", async () => {
  await using main = startMain({ ALLOW_ADDRESSES: "nonsense,also" });
  await using invalid = startMain({
    MAX_SEARCH_RESULTS: "99",
    BRAVE_BASE_URL: "ftp://x",
    BRAVE_API_KEY: "not printed",
  });

  expect([await main.ended, main.stderr()]).toEqual([
    2,
    expect.stringMatching(/2 faults\n +allowAddresses\.0: .*\n +allowAddresses\.1: /),
  ]);
  const code = await invalid.ended;
  const stderr = invalid.stderr();
  expect([code, stderr]).toEqual([2, expect.stringMatching(/maxSearchResults, from the variable MAX_SEARCH_RESULTS/)]);
  expect(stderr).toMatch(/braveBaseUrl/);
  expect(stderr).toMatch(/braveApiKey/);
  expect(stderr).not.toContain("not printed");
});

test("it serves until SIGTERM, and ends with code 0", async () => {
  await using main = startMain({ BRAVE_API_KEY: "canary-key" });
  await expect.poll(main.stdout, { timeout: 10_000 }).toContain('"msg":"ready"');
  main.kill("SIGTERM");

  expect([await main.ended, main.stderr()]).toEqual([0, ""]);
  expect(main.stdout()).not.toContain("canary");
});
