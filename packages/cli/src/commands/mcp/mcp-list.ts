import { type McpServerSummary, printable } from "@rockbot/contracts";
import type { BridgedServerHealth } from "@rockbot/mcp-bridge";
import { busUrlFaults, chooseBusUrl, displayBusUrl, MEMORY_BUS } from "../../bus-url.ts";
import { chooseMcpConfig } from "../../client/mcp/choose-mcp-config.ts";
import { askMcpIndex, askMcpServers, tryMcpServers } from "../../client/mcp/mcp-servers.ts";
import { CommandError } from "../../command-error.ts";
import { ExitCode } from "../../exit-code.ts";
import { liveSocket } from "../../runtime/own-socket.ts";
import { UsageError } from "../../usage-error.ts";

export interface McpListOptions {
  readonly bus?: string;
  readonly policy?: string;
  readonly mcpConfig?: string;
  readonly json?: boolean;
}

const MAX_LINE = 400;
const MAX_NAMES = 400;
/** The most lines of a failed server's last words, and of tools that are left out. */
const MAX_LINES = 12;

/**
 * `rockbot mcp ls`: the state of each MCP server. Behind a broker it lists only their names: no service says more over
 * the bus.
 */
export async function listMcpServers({ bus, policy, mcpConfig, json = false }: McpListOptions): Promise<void> {
  const { env } = process;
  const url = chooseBusUrl(bus, env);
  const faults = busUrlFaults(url);
  if (faults.length > 0) throw new UsageError(faults);
  if (url !== MEMORY_BUS && mcpConfig === undefined)
    return listIndex(url, policy ?? (env["POLICY_FILE"] || undefined), json);
  const file = chooseMcpConfig(mcpConfig, env);
  const socketPath = mcpConfig === undefined ? await liveSocket(env) : undefined;
  const where = socketPath !== undefined ? 'the running "rockbot up"' : `${file}, tried from here`;
  const servers =
    socketPath !== undefined
      ? await askMcpServers(socketPath)
      : file === undefined
        ? undefined
        : await tryMcpServers(file, env);
  if (servers === undefined)
    throw new CommandError(
      'There are no MCP servers: name a file by --mcp-config or MCP_CONFIG, here or for "rockbot up"',
    );

  if (json) console.log(JSON.stringify(servers, undefined, 2));
  else for (const line of table(servers)) console.log(line);
  const ready = servers.filter(({ state }) => state === "ready").length;
  console.error(`${ready} of ${servers.length} MCP servers are ready, as ${where} has it`);
  process.exitCode = ready === servers.length && ready > 0 ? ExitCode.Ok : ExitCode.Failed;
}

async function listIndex(url: string, policyFile: string | undefined, json: boolean): Promise<void> {
  const servers = await askMcpIndex(url, policyFile);
  if (json) console.log(JSON.stringify(servers, undefined, 2));
  else for (const line of indexTable(servers)) console.log(line);
  console.error(
    `${servers.length} MCP servers have told what they offer, as the bridge behind ${displayBusUrl(url)} has it. How each stands now is not told over the bus: its metric rockbot.mcp.server.up and its log say that`,
  );
}

function indexTable(servers: readonly McpServerSummary[]): string[] {
  const width = Math.max(0, ...servers.map(({ serverName }) => printable(serverName).length));
  return servers.map(({ serverName, toolNames = [], toolCount = toolNames.length }) => {
    const names = printable(toolNames.join(", "), MAX_NAMES);
    return `${printable(serverName).padEnd(width)}  ${String(toolCount).padStart(4)} tools  ${names}`;
  });
}

/** Servers and what they say are strangers' text. */
function table(servers: readonly BridgedServerHealth[]): string[] {
  const width = Math.max(0, ...servers.map(({ name }) => printable(name).length));
  return servers.flatMap((server) => {
    const { name, state, transport, protocolVersion = "", leftOut, lastFailure } = server;
    const line = `${printable(name).padEnd(width)}  ${state.padEnd(10)}  ${transport.padEnd(9)}  ${protocolVersion.padEnd(10)}  ${countsOf(server)}`;
    const cause = state === "ready" || lastFailure === undefined ? [] : lastLines(lastFailure);
    const reasons = leftOut.slice(0, MAX_LINES).map(({ tool, why }) => `left out: "${tool}": ${why}`);
    const more =
      leftOut.length <= MAX_LINES ? [] : [`left out: ${leftOut.length - MAX_LINES} more, which --json lists`];
    return [
      line,
      ...[...cause, ...reasons, ...more].map((text) => `${" ".repeat(width)}  ${printable(text, MAX_LINE)}`),
    ];
  });
}

function countsOf({ tools, held, owner, failures, leftOut, nextAttemptInMs }: BridgedServerHealth): string {
  return [
    `${String(tools).padStart(4)} tools`,
    ...(held === 0 ? [] : [`${held} wait for an approval`]),
    ...(leftOut.length === 0 ? [] : [`${leftOut.length} left out`]),
    ...(owner === undefined ? [] : [`at the replica ${owner.replica}${owner.isThis ? ", this one" : ""}`]),
    ...(failures === 0 ? [] : [`${failures} failures in a row`]),
    ...(nextAttemptInMs === undefined ? [] : [`next attempt in ${Math.ceil(nextAttemptInMs / 1_000)} s`]),
  ].join(", ");
}

/** The failure, and the end of the process's output, where programs say why. */
function lastLines(failure: string): string[] {
  const [what = "", ...said] = failure.split("\n").filter((line) => line.trim() !== "");
  return [what, ...said.slice(-MAX_LINES)];
}
