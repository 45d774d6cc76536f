import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { isProcessAlive, ownVirtualHost, startOwnRedis } from "@rockbot/testing";
import { createToolCaller, type ToolCaller } from "@rockbot/tools";
import { expect } from "vitest";
import { uniqueName } from "../broker/messages.ts";
import { type RunningProcess, startProgram, untilReady } from "../services/start-service.ts";

/** Bridges with MCP servers that misbehave, and a caller of their tools. */
export interface McpScene extends AsyncDisposable {
  readonly caller: ToolCaller;
  /** A bridge as a process of its own, once it is ready and all its servers with `waitFor` are connected. */
  startBridge(waitFor?: readonly string[]): Promise<RunningProcess>;
  /** A file in the scene's folder. */
  file(name: string): string;
  /** The lines of such a file; none if there is no such file yet. */
  lines(name: string): string[];
  /** The number of living processes among all servers' processes so far, and `more`. */
  alive(more?: readonly number[]): number;
  /** How many servers' processes have ever been started. */
  readonly started: number;
}

const PIDS = "pids";

/**
 * Has a broker and a Redis of its own: bridges of other tests would take its calls, and the right to tell the index.
 * Without `sharesClaims` there is no Redis, for one bridge.
 * @param servers the entries of the file, each of which notes the ids of its processes
 */
export async function openMcpScene(
  servers: Readonly<Record<string, object>>,
  { sharesClaims = true }: { readonly sharesClaims?: boolean } = {},
): Promise<McpScene> {
  await using opening = new AsyncDisposableStack();
  const broker = opening.use(await ownVirtualHost());
  const redis = sharesClaims ? opening.use(await startOwnRedis()) : undefined;
  const folder = await mkdtemp(join(tmpdir(), "rockbot-mcp-"));
  opening.defer(() => rm(folder, { recursive: true, force: true }));
  const file = (name: string) => join(folder, name);
  const lines = (name: string) =>
    readFileSync(file(name), { encoding: "utf8", flag: "a+" }).split("\n").filter(Boolean);
  const cache = { NODE_COMPILE_CACHE: file("compiled") }; // most of what it takes to start a process
  /**
   * The number of a process that has ended may be another's by now: of those of the scene, the environment names its
   * file.
   */
  function isOfScene(pid: number): boolean {
    try {
      return readFileSync(`/proc/${pid}/environ`, "latin1").includes(file(PIDS));
    } catch {
      return false; // it has ended
    }
  }
  const env = { PIDS_FILE: file(PIDS), ...(redis === undefined ? {} : { REDIS_URL: redis.url }), ...cache };
  const entries = Object.entries(servers).map(([name, entry]) => [name, "url" in entry ? entry : { env, ...entry }]);
  await writeFile(file("mcp.json"), JSON.stringify({ mcpServers: Object.fromEntries(entries) }));
  const bus = opening.use(await connectBus(broker.url, { name: "mcp-faults", drainMs: 1_000 }));
  const caller = opening.use(await createToolCaller(bus, { agent: `agent-${uniqueName()}`, results: "copy" }));
  const opened = opening.move();
  return {
    caller,
    file,
    lines,
    async startBridge(waitFor = []) {
      const settings = {
        BUS_URL: broker.url,
        MCP_CONFIG: file("mcp.json"),
        ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
        ...cache,
      };
      const bridge = opened.use(startProgram("services/main.ts", { args: ["mcp-bridge"], env: settings }));
      await untilReady("mcp-bridge", bridge, '"msg":"ready"');
      const isConnected = (server: string) =>
        bridge
          .stdout()
          .split("\n")
          .some((line) => line.includes(`"server":"${server}"`) && line.includes("connected"));
      await expect.poll(() => waitFor.filter((server) => !isConnected(server)), { timeout: 60_000 }).toEqual([]);
      return bridge;
    },
    alive: (more = []) => new Set([...lines(PIDS).map(Number).filter(isOfScene), ...more.filter(isProcessAlive)]).size,
    get started() {
      return lines(PIDS).length;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
