import { join } from "node:path";
import { faultServer, startNodeProgram } from "@rockbot/testing";
import { expect, test } from "vitest";
import { testFolder } from "./test-bridge.ts";

const startMain = (env: Record<string, string>) => startNodeProgram(join(import.meta.dirname, "main.ts"), { env });

test("a wrong configuration or a wrong file of servers ends the process with code 2 and every fault", { timeout: 60_000 }, async () => {
  using folder = testFolder();
  const file = folder.write({ mcpServers: { a: {}, b: { command: "x", url: "https://x" } } });
  await using main = startMain({ MCP_CONFIG: file });
  await using invalid = startMain({ INIT_CONCURRENCY: "0" });
  expect([await main.ended, main.stderr()]).toEqual([2, expect.stringMatching(/2 faults\n.*mcpServers\.a.*\n.*mcpServers\.b/)]);
  expect([await invalid.ended, invalid.stderr()]).toEqual([2, expect.stringMatching(/initConcurrency, from the variable INIT_CONCURRENCY/)]);
});

test("it serves until SIGTERM, and ends with code 0 although a server heeds nobody", async () => {
  using folder = testFolder();
  await using main = startMain({ MCP_CONFIG: folder.write({ mcpServers: { faulty: faultServer("heedless") } }) });
  await expect.poll(main.stdout, { timeout: 15_000 }).toContain("MCP server connected");
  main.kill("SIGTERM");
  expect([await main.ended, main.stderr()]).toEqual([0, ""]);
});
