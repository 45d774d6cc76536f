import type { BridgedServerHealth } from "@rockbot/mcp-bridge";
import { chooseMcpConfig } from "../client/choose-mcp-config.ts";
import { askMcpServers, tryMcpServers } from "../client/mcp-servers.ts";
import { CommandError } from "../command-error.ts";
import { printable } from "../dlq/printable.ts";
import { ExitCode } from "../exit-code.ts";
import { ownSocket } from "../runtime/own-socket.ts";

export interface McpListOptions {
  readonly mcpConfig?: string;
  readonly json?: boolean;
}

const MAX_FAILURE = 400;

/** `rockbot mcp ls`: how each MCP server stands. */
export async function listMcpServers({ mcpConfig, json = false }: McpListOptions): Promise<void> {
  const { env } = process;
  const file = chooseMcpConfig(mcpConfig, env);
  const socket = ownSocket(env);
  const isRunning = mcpConfig === undefined && (await socket.isLive());
  const where = isRunning ? 'the running "rockbot up"' : `${file}, tried from here`;
  const servers = isRunning ? await askMcpServers(socket.path) : file === undefined ? undefined : await tryMcpServers(file, env);
  if (servers === undefined) throw new CommandError('There are no MCP servers: name a file by --mcp-config or MCP_CONFIG, here or for "rockbot up"');

  if (json) console.log(JSON.stringify(servers, undefined, 2));
  else for (const line of table(servers)) console.log(line);
  const ready = servers.filter(({ state }) => state === "ready").length;
  console.error(`${ready} of ${servers.length} MCP servers are ready, as ${where} has it`);
  process.exitCode = ready === servers.length ? ExitCode.Ok : ExitCode.Failed;
}

/** Servers and what they say are strangers' text. */
function table(servers: readonly BridgedServerHealth[]): string[] {
  const width = Math.max(0, ...servers.map(({ name }) => printable(name).length));
  return servers.flatMap(({ name, state, transport, protocolVersion = "", tools, held, owner, failures, lastFailure, nextAttemptInMs }) => {
    const counts = `${String(tools).padStart(4)} tools${held === 0 ? "" : `, ${held} wait for an approval`}${owner === undefined ? "" : `, at the replica ${owner.replica}${owner.isThis ? ", this one" : ""}`}${failures === 0 ? "" : `, ${failures} failures in a row`}${nextAttemptInMs === undefined ? "" : `, next attempt in ${Math.ceil(nextAttemptInMs / 1_000)} s`}`;
    const line = `${printable(name).padEnd(width)}  ${state.padEnd(10)}  ${transport.padEnd(9)}  ${protocolVersion.padEnd(10)}  ${counts}`;
    return state === "ready" || lastFailure === undefined ? [line] : [line, `${" ".repeat(width)}  ${printable(lastFailure, MAX_FAILURE)}`];
  });
}
