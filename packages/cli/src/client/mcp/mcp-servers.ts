import { createMemoryBus } from "@rockbot/bus";
import type { McpServerSummary } from "@rockbot/contracts";
import { MCP_PATH } from "@rockbot/gateway/approvals";
import { readIndex } from "@rockbot/mcp/for-agents";
import { type BridgedServerHealth, startMcpBridge } from "@rockbot/mcp-bridge";
import { serviceNamed } from "@rockbot/services";
import { Agent, request } from "undici";
import { displayBusUrl, MEMORY_BUS } from "../../bus-url.ts";
import { CommandError } from "../../command-error.ts";
import { connectRuled } from "../../connect-broker.ts";

const ANSWER_MS = 10_000;
/** A bridge that is busy, or is just coming back to the broker, answers late. */
const INDEX_MS = 20_000;
/** Servers may have to be fetched before they start. */
const SETTLE_MS = 60_000;

type Env = Readonly<Record<string, string | undefined>>;

/** How the servers of a running `rockbot up` stand; undefined if it runs no bridge. */
export async function askMcpServers(socketPath: string): Promise<readonly BridgedServerHealth[] | undefined> {
  await using stack = new AsyncDisposableStack();
  const dispatcher = stack.adopt(new Agent({ connect: { socketPath, timeout: 2_000 } }), (agent) => agent.destroy());
  const { statusCode, body } = await request(`http://localhost${MCP_PATH}`, {
    dispatcher,
    signal: AbortSignal.timeout(ANSWER_MS),
  }).catch((error: Error) => {
    throw new CommandError(`Cannot list the MCP servers: the running "rockbot up" does not answer (${error.message})`);
  });
  if (statusCode === 200)
    return ((await body.json()) as { readonly servers: BridgedServerHealth[] | null }).servers ?? undefined;
  await body.dump();
  throw new CommandError(
    'Cannot list the MCP servers: the running "rockbot up" does not know the question. Is it of another version?',
  );
}

/** The servers behind a broker, as their bridge tells agents. */
export async function askMcpIndex(url: string, policyFile: string | undefined): Promise<readonly McpServerSummary[]> {
  await using ruled = await connectRuled(url, "rockbot mcp ls", policyFile);
  const { bus, policy, agent } = ruled;
  const servers = await readIndex(bus, { agent, policy, timeoutMs: INDEX_MS });
  if (servers !== undefined) return servers;
  throw new CommandError(
    `Cannot list the MCP servers: no MCP bridge behind ${displayBusUrl(url)} has told "${agent}" of any within ${INDEX_MS / 1_000} s. Does mcp-bridge run there, and does the policy let "${agent}" call its tools?`,
  );
}

/**
 * Connects to the servers of a file in this process, and says how they stand.
 * @throws {CommandError} if it names none
 */
export async function tryMcpServers(mcpConfig: string, env: Env): Promise<readonly BridgedServerHealth[]> {
  const load = await serviceNamed("mcp-bridge").loader();
  const config = load({ env, overrides: { busUrl: MEMORY_BUS, mcpConfig, pin: "off" } });
  await using bus = createMemoryBus();
  await using bridge = await startMcpBridge(bus, config, { env });
  if (bridge.servers.length === 0)
    throw new CommandError(
      [`Cannot list the MCP servers: ${mcpConfig} names none that is switched on`, ...bridge.notes].join("\n"),
    );
  await bridge.settled(SETTLE_MS);
  return bridge.servers;
}
