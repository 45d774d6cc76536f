import type { Command } from "commander";
import type { McpApproveOptions } from "../commands/mcp/mcp-approve.ts";
import type { McpListOptions } from "../commands/mcp/mcp-list.ts";
import type { McpServeOptions } from "../commands/mcp/mcp-serve.ts";
import type { McpWithdrawOptions } from "../commands/mcp/mcp-withdraw.ts";
import { ALLOW, BUS, collect, POLICY } from "./common-options.ts";

/** The help of `--mcp-config`, wherever it is an option. */
export const MCP_CONFIG = "the file of MCP servers, in the common mcpServers form; default MCP_CONFIG";

const REDIS =
  "act on the bridges that share this Redis, redis(s)://user:password@host:port/database, instead of the running rockbot up";

const LOCK_FILE =
  "act on this file, in which one service keeps its approvals, such as rest.lock.json, instead of the running rockbot up";

/** Adds `rockbot mcp` and its commands. */
// Long because: the commands are listed side by side, each with its help
export function addMcpCommand(program: Command): void {
  const mcp = program.command("mcp").description("List and approve MCP servers, or serve the tools over MCP.");

  mcp
    .command("ls")
    .description("List the MCP servers: state, transport, protocol, tools, and the last error.")
    .option("--bus <url>", `${BUS}; over a broker the list has servers and tools only`)
    .option("--policy <file>", "the policy file, which says whether the broker verifies senders; default POLICY_FILE")
    .option("--mcp-config <file>", `${MCP_CONFIG}; starts these servers in this process`)
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Examples:
  rockbot mcp ls                                  list the servers of the running "rockbot up"
  rockbot mcp ls --bus amqp://user@host/vhost     list the servers behind a broker
  rockbot mcp ls --mcp-config mcp.json            test whether these servers start

The list shows what a failed server last wrote to stderr, shortened. Exit code 1 if a server is not ready, or if there is
none. Over a broker the bridge says what servers offer, not their state. The request makes the bridge reconnect to
servers that are away.`,
    )
    .action(async (options: McpListOptions) => (await import("../commands/mcp/mcp-list.ts")).listMcpServers(options));

  mcp
    .command("serve")
    .description("Serve every tool and guide over MCP on stdin and stdout, for a client that starts this command.")
    .option("--bus <url>", BUS)
    .option("--policy <file>", POLICY)
    .option("--mcp-config <file>", `${MCP_CONFIG}; only if no "rockbot up" runs`)
    .option("--allow-address <address>", `${ALLOW}; only if the tools run in this process`, collect)
    .addHelpText(
      "after",
      `
Examples:
  rockbot mcp serve                               serve the tools of the running "rockbot up", or start them here
  rockbot mcp serve --bus amqp://user@host/vhost  serve the tools behind a broker

In a client's configuration: "rockbot": { "command": "/path/to/rockbot", "args": ["mcp", "serve"] }
The command ends when the client closes stdin. The gateway serves the same tools over HTTP, at /mcp.`,
    )
    .action(async (options: McpServeOptions) => (await import("../commands/mcp/mcp-serve.ts")).serveMcp(options));

  mcp
    .command("approve")
    .description("List new or changed tools and requested servers that wait for approval, and approve them.")
    .argument("[server]", "the server to approve (default: only list)")
    .argument("[tool]", "approve only this tool of the server")
    .option("--yes", "approve without a question")
    .option("--redis <url>", REDIS)
    .option("--lock-file <file>", LOCK_FILE)
    .option("--mcp-config <file>", `${MCP_CONFIG}; if no "rockbot up" runs, reads the mcp.lock.json beside it`)
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Examples:
  rockbot mcp approve                             list what waits, and what has changed
  rockbot mcp approve files                       approve everything of the server files, after a question
  rockbot mcp approve files read_file --yes       approve one tool

The command approves exactly what it shows: a definition that changes meanwhile waits again. For a server that an agent
asks for, it shows the exact command or address, and the agent may register it once. To refuse: rockbot mcp reject
SERVER [TOOL]. What was rejected or removed is off the list, which only counts it. With SERVER [TOOL] the command shows it if
nothing else of that name waits, and you can still approve it.`,
    )
    .action(async (server: string | undefined, tool: string | undefined, options: McpApproveOptions) =>
      (await import("../commands/mcp/mcp-approve.ts")).approveMcp(server, tool, options),
    );

  withdrawal(
    mcp,
    "reject",
    "Reject what waits for approval. A rejected tool waits again only when it changes; an agent may not request a rejected server again for a day.",
  )
    .argument("[tool]", "reject only this tool of the server")
    .action(async (server: string, tool: string | undefined, options: McpWithdrawOptions) =>
      (await import("../commands/mcp/mcp-withdraw.ts")).rejectMcp(server, tool, options),
    );
  withdrawal(
    mcp,
    "remove",
    "Remove a server that an agent has registered. All bridges disconnect from it, and the agent may not register it again for a day.",
  ).action(async (server: string, options: McpWithdrawOptions) =>
    (await import("../commands/mcp/mcp-withdraw.ts")).removeMcp(server, options),
  );
}

function withdrawal(mcp: Command, name: "reject" | "remove", description: string): Command {
  return mcp
    .command(name)
    .description(description)
    .argument("<server>", "the name of the server")
    .option("--yes", `${name} without a question`)
    .option("--redis <url>", REDIS)
    .option("--lock-file <file>", LOCK_FILE)
    .option("--mcp-config <file>", `${MCP_CONFIG}; if no "rockbot up" runs, uses the mcp.lock.json beside it`);
}
