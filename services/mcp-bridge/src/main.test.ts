import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import {
  faultServer,
  isProcessAlive,
  startNodeProgram,
  startProtectedResource,
  temporaryFolder,
} from "@rockbot/testing";
import { expect, test } from "vitest";

const startMain = (env: Record<string, string>) =>
  startNodeProgram(join(import.meta.dirname, "../../main.ts"), { args: ["mcp-bridge"], env });

test("a wrong configuration or a wrong file of servers ends the process with code 2 and every fault", {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  const file = folder.write("mcp.json", { mcpServers: { a: {}, b: { command: "x", url: "https://x" } } });
  await using main = startMain({ MCP_CONFIG: file });
  await using invalid = startMain({ INIT_CONCURRENCY: "0" });
  expect([await main.ended, main.stderr()]).toEqual([
    2,
    expect.stringMatching(/2 faults\n.*mcpServers\.a.*\n.*mcpServers\.b/),
  ]);
  expect([await invalid.ended, invalid.stderr()]).toEqual([
    2,
    expect.stringMatching(/initConcurrency, from the variable INIT_CONCURRENCY/),
  ]);
});

test("it serves until SIGTERM, and ends with code 0 although a server heeds nobody", async () => {
  using folder = temporaryFolder();
  await using main = startMain({
    MCP_CONFIG: folder.write("mcp.json", { mcpServers: { faulty: faultServer("heedless") } }),
  });
  await expect.poll(main.stdout, { timeout: 40_000 }).toContain("connected to an MCP server");
  main.kill("SIGTERM");
  expect([await main.ended, main.stderr()]).toEqual([0, ""]);
});

/** An authorization server that refuses each client, and says its secret. */
async function startTellingIssuer() {
  const server = createServer((request, response) => {
    const [, credentials = ""] = request.headers.authorization?.split(" ") ?? [];
    const told = {
      error: "invalid_client",
      error_description: `no such client: ${Buffer.from(credentials, "base64")}`,
    };
    const endpoints = { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
    const metadata = {
      issuer,
      ...endpoints,
      response_types_supported: ["code"],
      grant_types_supported: ["client_credentials"],
    };
    const isToken = request.url === "/token";
    response
      .writeHead(isToken ? 401 : 200, { "content-type": "application/json" })
      .end(JSON.stringify(isToken ? told : metadata));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

test("what the library of the protocol writes to the console is lines of the log, and no secret is in them", async () => {
  await using authorization = await startTellingIssuer();
  await using resource = await startProtectedResource(
    { issuer: authorization.issuer, isValid: async () => false },
    () => {},
  );
  using folder = temporaryFolder();
  const auth = {
    type: "client_credentials",
    clientId: "me",
    clientSecret: "canary-client-secret",
    issuer: authorization.issuer,
  };
  await using main = startMain({
    MCP_CONFIG: folder.write("mcp.json", { mcpServers: { guarded: { url: resource.url, auth } } }),
  });
  await expect
    .poll(main.stdout, { timeout: 40_000 })
    .toMatch(/"source":"console","msg":"\[mcp-sdk\] .*no such client: me:\[redacted\]/);
  main.kill("SIGTERM");
  expect([await main.ended, main.stderr()]).toEqual([0, ""]);
  expect(main.stdout()).not.toContain("canary");
});

/**
 * So often a bridge is killed until it is the next one of the test that ends what it left: bridges of other tests start
 * meanwhile, and do so too.
 */
const KILLS = 10;
const isLinux = process.platform === "linux"; // elsewhere a system does not say of which start a process is

test.runIf(isLinux)(
  "a server that a killed bridge has left behind is ended by the next one, and that of a running bridge is not",
  { timeout: 240_000 },
  async () => {
    using folder = temporaryFolder();
    await using bridges = new AsyncDisposableStack();
    const start = async (name: string) => {
      const pidFile = join(folder.path, `${name}.pid`);
      const mcpServers = { faulty: { ...faultServer("heedless"), env: { PIDS_FILE: pidFile } } };
      const main = bridges.use(startMain({ MCP_CONFIG: folder.write(`${name}.json`, { mcpServers }) }));
      await expect.poll(main.stdout, { timeout: 60_000 }).toContain("connected to an MCP server");
      return { main, server: Number(readFileSync(pidFile, "utf8")) };
    };
    const running = await start("running");
    let next = await start("next-0");
    let kills = 0;
    do {
      const killed = next;
      killed.main.kill("SIGKILL");
      await killed.main.ended;
      next = await start(`next-${++kills}`);
      await expect
        .poll(() => [killed, running].map(({ server }) => isProcessAlive(server)), { timeout: 10_000 })
        .toEqual([false, true]);
    } while (!next.main.stdout().includes("left behind") && kills < KILLS);
    expect(next.main.stdout()).toContain("left behind");
    for (const { main } of [running, next]) main.kill("SIGTERM");
    expect([await running.main.ended, await next.main.ended]).toEqual([0, 0]);
    expect([running, next].map(({ server }) => isProcessAlive(server))).toEqual([false, false]);
  },
);
