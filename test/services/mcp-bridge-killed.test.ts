import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { faultServer, ownVirtualHost, startNodeProgram, startOwnRedis, temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startTaskServer } from "../../packages/mcp/src/client/test-task-server.ts";

const MAIN = join(import.meta.dirname, "../../services/main.ts");

test("a call whose bridge is killed ends as of unknown outcome, and does not run in the other bridge", {
  timeout: 240_000,
}, async () => {
  using folder = temporaryFolder();
  const [config, ledger] = [join(folder.path, "mcp.json"), join(folder.path, "ledger")];
  writeFileSync(config, JSON.stringify({ mcpServers: { effects: faultServer() } }));
  await using broker = await ownVirtualHost(); // another test's bridge would take calls to this one's
  await using redis = await startOwnRedis();
  const env = { BUS_URL: broker.url, REDIS_URL: redis.url, MCP_CONFIG: config };
  await using bus = await connectBus(broker.url);
  await using caller = await createToolCaller(bus, { agent: "mcp-killer", results: "copy" });
  await using first = startNodeProgram(MAIN, { args: ["mcp-bridge"], env });
  await expect.poll(first.stdout, { timeout: 60_000 }).toContain("connected to an MCP server");
  await expect.poll(() => caller.tools.getExecutor("effects__note_and_hang"), { timeout: 30_000 }).toBeDefined();

  const call = caller
    .call("effects__note_and_hang", { file: ledger }, { timeoutMs: 60_000 })
    .catch((error: unknown) => error);
  await expect.poll(() => runs(ledger), { timeout: 30_000 }).toBe(1);
  await using second = startNodeProgram(MAIN, { args: ["mcp-bridge"], env });
  for (const line of ["connected to an MCP server", '"msg":"ready"'])
    await expect.poll(second.stdout, { timeout: 60_000 }).toContain(line);
  first.kill("SIGKILL");

  expect(await call).toMatchObject({ code: "outcome_unknown", isRetryable: false, details: { mayHaveRun: true } });
  expect(runs(ledger)).toBe(1);
  expect(await caller.call("effects__echo", { still: "served" })).toMatchObject({ content: '{"still":"served"}' });
});

test("a server's task is followed to its end although each of two bridges is killed once while it works", {
  timeout: 240_000,
}, async () => {
  using folder = temporaryFolder();
  await using server = await startTaskServer();
  const config = folder.write("mcp.json", { mcpServers: { shop: { type: "http", url: server.url } } });
  await using broker = await ownVirtualHost();
  await using redis = await startOwnRedis();
  const env = { BUS_URL: broker.url, REDIS_URL: redis.url, MCP_CONFIG: config };
  await using bus = await connectBus(broker.url);
  await using caller = await createToolCaller(bus, { agent: "mcp-killer", results: "copy" });
  const start = async () => {
    const bridge = startNodeProgram(MAIN, { args: ["mcp-bridge"], env });
    for (const line of ["connected to an MCP server", '"msg":"ready"'])
      await expect.poll(bridge.stdout, { timeout: 60_000 }).toContain(line);
    return bridge;
  };
  await using first = await start();
  await expect.poll(() => caller.tools.getExecutor("shop__build"), { timeout: 30_000 }).toBeDefined();

  const polls = () => server.asked.filter(({ method }) => method === "tasks/get").length;
  const pollsOn = async () => {
    const before = polls();
    await expect.poll(polls, { timeout: 60_000 }).toBeGreaterThan(before + 1);
  };
  const call = caller.call("shop__build", {}, { timeoutMs: 200_000 });
  await pollsOn();
  first.kill("SIGKILL");
  await using second = await start();
  await pollsOn();
  second.kill("SIGKILL");
  await using _third = await start();
  await pollsOn();
  server.becomes({ status: "completed", result: { content: [{ type: "text", text: "built" }] } });

  expect(await call).toMatchObject({ content: "built" });
  expect(server.asked.filter(({ method }) => method === "tools/call")).toHaveLength(1);
});

const runs = (ledger: string): number => {
  try {
    return readFileSync(ledger, "utf8").split("\n").length - 1;
  } catch {
    return 0; // nobody has written to it yet
  }
};
