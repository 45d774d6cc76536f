import { createMemoryBus } from "@rockbot/bus";
import { loadConfig } from "@rockbot/config";
import { type BridgedServerHealth, checkMcpBridgeConfig, configSchema, startMcpBridge } from "@rockbot/mcp-bridge";
import { Agent, request } from "undici";
import { MEMORY_BUS } from "../bus-url.ts";
import { CommandError } from "../command-error.ts";
import { MCP_PATH } from "../runtime/operator-mcp.ts";

const ANSWER_MS = 10_000;
/** Servers may have to be fetched before they start. */
const SETTLE_MS = 60_000;

type Env = Readonly<Record<string, string | undefined>>;

/** How the servers of a running `rockbot up` stand; undefined if it runs no bridge. */
export async function askMcpServers(socketPath: string): Promise<readonly BridgedServerHealth[] | undefined> {
  await using stack = new AsyncDisposableStack();
  const dispatcher = stack.adopt(new Agent({ connect: { socketPath, timeout: 2_000 } }), (agent) => agent.destroy());
  const { statusCode, body } = await request(`http://localhost${MCP_PATH}`, { dispatcher, signal: AbortSignal.timeout(ANSWER_MS) }).catch((error: Error) => {
    throw new CommandError(`Cannot list the MCP servers: the running "rockbot up" does not answer (${error.message})`);
  });
  if (statusCode === 200) return ((await body.json()) as { readonly servers: BridgedServerHealth[] | null }).servers ?? undefined;
  await body.dump();
  throw new CommandError('Cannot list the MCP servers: the running "rockbot up" does not know the question. Is it of another version?');
}

/** Connects to the servers of a file in this process, and says how they stand. */
export async function tryMcpServers(mcpConfig: string, env: Env): Promise<readonly BridgedServerHealth[]> {
  const config = loadConfig(configSchema, { env, overrides: { busUrl: MEMORY_BUS, mcpConfig, pin: "off" }, check: checkMcpBridgeConfig });
  await using bus = createMemoryBus();
  await using bridge = await startMcpBridge(bus, config, { env });
  await bridge.settled(SETTLE_MS);
  return bridge.servers;
}
