import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type NodeProgram, startNodeProgram } from "@rockbot/testing";

const root = dirname(dirname(import.meta.dirname));
const SERVER = join(import.meta.dirname, "bench-server.ts");
export const TOKEN = "token-of-a-measurement";
const STARTED_MS = 300_000;

/** How to start the server of measurements over stdio. */
export const stdioProgram = (tools: number) => ({
  command: process.execPath,
  args: [SERVER, "--stdio", String(tools)],
});

export interface HttpServers extends AsyncDisposable {
  readonly urls: readonly string[];
}

/** So many servers over HTTP, in one process. */
export async function startHttpServers(servers: number, tools: number): Promise<HttpServers> {
  const program = startNodeProgram(SERVER, { args: [String(servers), String(tools), TOKEN] });
  const urls = (): string[] => program.stdout().split("\n").slice(0, -1);
  await until(() => urls().length === servers, program);
  return { urls: urls(), [Symbol.asyncDispose]: () => program[Symbol.asyncDispose]() };
}

export const httpEntry = (url: string) => ({ type: "http", url, auth: { type: "bearer", token: TOKEN } });

export interface BenchBridge extends AsyncDisposable {
  readonly pid: number;
  /** From the start of the process until each server is connected. */
  readonly connectedMs: number;
}

/** The bridge as a process, once all its servers are connected. */
export async function startBridge(amqpUrl: string, mcpServers: Readonly<Record<string, object>>): Promise<BenchBridge> {
  const folder = mkdtempSync(join(tmpdir(), "rockbot-bench-"));
  writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers }));
  const startedAt = performance.now();
  const bridge = startNodeProgram(join(root, "services/main.ts"), {
    args: ["mcp-bridge"],
    env: { BUS_URL: amqpUrl, MCP_CONFIG: join(folder, "mcp.json") },
  });
  await until(
    () => (bridge.stdout().match(/connected to an MCP server/g)?.length ?? 0) >= Object.keys(mcpServers).length,
    bridge,
  );
  return {
    pid: bridge.pid,
    connectedMs: performance.now() - startedAt,
    async [Symbol.asyncDispose]() {
      bridge.kill("SIGTERM"); // its servers end with it
      await bridge.ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The gateway as a process. @returns the address of its door for MCP clients, which TOKEN opens */
export async function startMcpGateway(amqpUrl: string): Promise<AsyncDisposable & { readonly url: string }> {
  const gateway = startNodeProgram(join(root, "services/main.ts"), {
    args: ["gateway"],
    env: { BUS_URL: amqpUrl, GATEWAY_TOKEN: TOKEN, PORT: "0", MAX_CONCURRENT: "256" },
  });
  await until(() => gateway.stdout().includes('"msg":"ready"'), gateway);
  return {
    url: `${/http:\/\/127\.0\.0\.1:\d+/.exec(gateway.stdout())?.[0]}/mcp`,
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

/** Memory of a process, in MiB. */
export async function residentMiB(pid: number): Promise<number> {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** Waits for a condition. @throws {Error} if a program ends meanwhile, or after five minutes */
export async function until(isSo: () => boolean, program?: NodeProgram): Promise<void> {
  let hasEnded = false;
  void program?.ended.then(() => (hasEnded = true));
  for (const end = performance.now() + STARTED_MS; !isSo(); await sleep(5)) {
    if (hasEnded || performance.now() > end)
      throw new Error(`it has not come to what is measured:\n${program?.stdout().slice(-2_000)}${program?.stderr()}`);
  }
}
