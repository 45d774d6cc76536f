import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client as ModernClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { faultServer, temporaryFolder } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { type CliOptions, cliCommand, runCli, startCli, startPage, startUp } from "./test-cli.ts";

const INFO = { name: "test", version: "1.0.0" };
const PATIENCE = { timeout: 60_000, interval: 100 };

interface Connected extends AsyncDisposable {
  readonly version: string | undefined;
  tools(): Promise<readonly string[]>;
  call(
    name: string,
    args: Record<string, unknown>,
    options?: { readonly signal?: AbortSignal },
  ): Promise<{ readonly [key: string]: unknown }>;
  prompts(): Promise<readonly string[]>;
}

type Connect = (args: readonly string[], options: CliOptions, onToolsChanged?: () => void) => Promise<Connected>;

const changes = (onToolsChanged: () => void) => ({
  listChanged: { tools: { autoRefresh: false, onChanged: onToolsChanged } },
});

const connectOld: Connect = async (args, options, onToolsChanged = () => {}) => {
  const client = new OldClient(INFO, changes(onToolsChanged));
  await client.connect(new OldTransport({ ...cliCommand(["mcp", "serve", ...args], options), stderr: "ignore" }));
  return {
    version: client.getServerVersion() && "2025-11-25",
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, input, callOptions) => client.callTool({ name, arguments: input }, undefined, callOptions),
    prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    [Symbol.asyncDispose]: () => client.close(),
  };
};

const connectModern =
  (mode: "legacy" | "auto"): Connect =>
  async (args, options, onToolsChanged = () => {}) => {
    const client = new ModernClient(INFO, { ...changes(onToolsChanged), versionNegotiation: { mode } });
    await client.connect(new ModernTransport({ ...cliCommand(["mcp", "serve", ...args], options), stderr: "ignore" }));
    return {
      version: client.getNegotiatedProtocolVersion(),
      tools: async () => (await client.listTools(undefined, { cacheMode: "refresh" })).tools.map(({ name }) => name),
      call: (name, input, callOptions) => client.callTool({ name, arguments: input }, callOptions),
      prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
      [Symbol.asyncDispose]: () => client.close(),
    };
  };

describe.each([
  ["the older SDK", "2025-11-25", connectOld],
  ["the newer SDK in the older era", "2025-11-25", connectModern("legacy")],
  ["the newer SDK in the newer era", "2026-07-28", connectModern("auto")],
] as const)("%s", (_, version, connect) => {
  test("lists and calls the tools of mcp serve, and cancels a call, with nothing else running", {
    timeout: 120_000,
  }, async () => {
    using folder = temporaryFolder();
    await using page = await startPage();
    await using client = await connect(["--allow-address", page.address], { folder: folder.path });

    expect(client.version).toBe(version);
    expect(await client.tools()).toEqual(expect.arrayContaining(["get_tool_guide", "web_browse"]));
    expect(await client.prompts()).toContain("web-tools");
    expect(await client.call("web_browse", { url: page.url() })).toMatchObject({
      content: [{ text: expect.stringContaining("Grüße") }],
    });
    expect(await client.call("web_browse", { url: page.url("/gone") })).toMatchObject({ isError: true });

    const abort = new AbortController();
    const slow = client.call("web_browse", { url: page.url("/slow") }, { signal: abort.signal });
    slow.catch(() => {});
    await expect.poll(() => page.requests, PATIENCE).toContain("/slow");
    abort.abort();
    await expect(slow).rejects.toThrow();
    await expect.poll(() => page.closed, PATIENCE).toContain("/slow");
  });

  test("reaches a running rockbot up, and hears when its tools change", { timeout: 120_000 }, async () => {
    using folder = temporaryFolder();
    const options = { folder: folder.path };
    const file = join(folder.path, "mcp.json");
    const write = (mcpServers: object) => writeFileSync(file, JSON.stringify({ mcpServers }));
    write({ works: faultServer() });
    await using _up = await startUp(options, ["--mcp-config", file]);
    let news = 0;
    await using client = await connect([], options, () => news++);

    await expect.poll(() => client.tools(), PATIENCE).toContain("works__echo");
    expect(await client.call("works__echo", { a: 1 })).toMatchObject({
      content: [{ text: '{"a":1}' }],
      _meta: { "rockbot/trust": { level: "untrusted", origin: "mcp:works" } },
    });
    news = 0;
    write({ works: faultServer(), more: faultServer() });
    await expect.poll(() => news, PATIENCE).toBeGreaterThan(0);
    await expect.poll(() => client.tools(), PATIENCE).toContain("more__echo");
  });
});

/** The messages that have come in whole. Throws if a line is none. */
const linesOf = (stdout: string): { readonly jsonrpc: string; readonly id?: number }[] =>
  stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { jsonrpc: string; id?: number });

test("mcp serve writes nothing but the protocol to stdout, and ends with its client", {
  timeout: 120_000,
}, async () => {
  using folder = temporaryFolder();
  const message = (id: number, method: string, params: object = {}) =>
    `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
  const input =
    message(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: INFO }) +
    message(2, "tools/list");
  const env = { MCP_CONFIG: join(folder.path, "missing.json") };
  expect((await runCli(["mcp", "serve"], { folder: folder.path, env, input })).code).toBe(2);

  await using served = startCli(["mcp", "serve"], {
    folder: folder.path,
    env: { LOG_LEVEL: "debug" },
    input,
    isInputOpen: true,
  });
  const answered = (stdout: string) => linesOf(stdout).flatMap(({ id }) => (id === undefined ? [] : [id]));
  await expect.poll(() => answered(served.stdout()), PATIENCE).toEqual([1, 2]);
  served.endInput();
  const { code, stdout, stderr } = await served.ended;
  expect([code, answered(stdout)]).toEqual([0, [1, 2]]);
  expect(stderr).toContain("an MCP server on stdin and stdout; the tools are run by this process");
});
