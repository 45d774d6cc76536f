import { writeFile } from "node:fs/promises";
import { networkInterfaces, totalmem } from "node:os";
import { join } from "node:path";
import { McpServer, type McpServerAddress, type McpTool } from "@rockbot/mcp";
import { loadConfig } from "@rockbot/process/config";
import { freePort, startNodeProgram, temporaryFolder } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { configSchema } from "./generated/config.ts";
import { startSystemInfoMcp } from "./system-info-mcp.ts";

const TOKEN = "token-of-this-test";
const PROGRAM = join(import.meta.dirname, "program/stdio-main.ts");

/** What makes a server of each kind, and where it is. */
const kinds: readonly [string, () => Promise<{ readonly address: McpServerAddress } & AsyncDisposable>][] = [
  [
    "stdio",
    async () => ({
      address: { type: "stdio", command: process.execPath, args: [PROGRAM], env: {} },
      async [Symbol.asyncDispose]() {},
    }),
  ],
  [
    "HTTP",
    async () => {
      const config = loadConfig(configSchema, { env: {}, overrides: { port: 0, mcpToken: TOKEN } });
      const server = await startSystemInfoMcp(config, { runtime: process });
      const address: McpServerAddress = {
        type: "http",
        url: server.url,
        headers: { authorization: `Bearer ${TOKEN}` },
      };
      return { address, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
    },
  ],
];

describe.each(kinds)("over %s", (_, start) => {
  test("the machine, its drives and its networks are told as JSON", async () => {
    await using server = await start();
    await using client = new McpServer({ name: "system-info", address: server.address });
    await expect.poll(() => client.health.state, { timeout: 15_000 }).toBe("ready");
    const read = async (name: string): Promise<unknown> => {
      const tool = client.tools.find((offered) => offered.name === name);
      if (tool === undefined) throw new Error(`${name} is not offered`);
      const { content } = await client.callTool(
        tool,
        {},
        { timeoutMs: 15_000, signal: new AbortController().signal, onProgress: () => {} },
      );
      return JSON.parse(content ?? "");
    };
    expect(await read("system_info")).toMatchObject({
      os: { platform: process.platform, architecture: process.arch },
      cpu: { usableProcessors: expect.any(Number) },
      memory: { totalBytes: totalmem(), freeBytes: expect.any(Number) },
      uptimeSeconds: expect.any(Number),
      runtime: { name: "Node.js", version: process.version },
    });
    const { drives } = (await read("disk_info")) as {
      drives: { path: string; totalBytes: number; usedBytes: number; availableBytes: number }[];
    };
    const root = drives.find(({ path }) => path === "/");
    expect(root?.totalBytes).toBeGreaterThan(0);
    expect(root?.usedBytes).toBeLessThanOrEqual(root?.totalBytes ?? 0);
    const { interfaces } = (await read("network_info")) as {
      interfaces: { name: string; addresses: { address: string }[] }[];
    };
    expect(interfaces.map(({ name }) => name)).toEqual(Object.keys(networkInterfaces()));
    expect(interfaces.flatMap(({ addresses }) => addresses.map(({ address }) => address))).toContain("127.0.0.1");
    expect(client.tools.map(({ annotations }) => annotations.readOnly)).toEqual([true, true, true]);
  });
});

test("over HTTP it needs a token, says how it is, and serves until SIGTERM", async () => {
  const startMain = (env: Record<string, string>) =>
    startNodeProgram(join(import.meta.dirname, "../../main.ts"), { args: ["system-info-mcp"], env });
  const healthPort = await freePort();
  await using bare = startMain({});
  using folder = temporaryFolder();
  const file = folder.write("token", "token-of-before-this-test");
  await using main = startMain({ PORT: "0", HEALTH_PORT: String(healthPort), MCP_TOKEN_FILE: file });
  expect([await bare.ended, bare.stderr()]).toEqual([2, expect.stringMatching(/MCP_TOKEN/)]);
  await expect.poll(main.stdout, { timeout: 15_000 }).toContain('"msg":"ready"');
  const url = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(main.stdout())?.[0] ?? "";
  const statusOf = async () =>
    (await fetch(url, { method: "POST", headers: { authorization: `Bearer ${TOKEN}` } })).status;
  expect(await statusOf()).toBe(401);
  await writeFile(file, TOKEN); // a change holds without a restart
  await expect.poll(statusOf, { timeout: 30_000, interval: 500 }).not.toBe(401);
  await using client = new McpServer({
    name: "system-info",
    address: { type: "http", url, headers: { authorization: `Bearer ${TOKEN}` } },
  });
  await expect.poll(() => client.health.state, { timeout: 15_000 }).toBe("ready");
  await client.callTool(
    client.tools[0] as McpTool,
    {},
    { timeoutMs: 15_000, signal: new AbortController().signal, onProgress: () => {} },
  );
  const health = (path: string) => fetch(`http://127.0.0.1:${healthPort}${path}`);
  expect((await health("/readyz")).status).toBe(200);
  expect(await (await health("/metrics")).text()).toMatch(
    /^rockbot_mcp_served_duration\w*_count\{.*status="ok".*\} 1$/m,
  );
  main.kill("SIGTERM");
  expect([await main.ended, main.stderr()]).toEqual([0, ""]);
});
