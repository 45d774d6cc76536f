import type { Command } from "commander";
import type { McpApproveOptions } from "./commands/mcp-approve.ts";
import type { McpListOptions } from "./commands/mcp-list.ts";
import type { McpServeOptions } from "./commands/mcp-serve.ts";
import type { McpWithdrawOptions } from "./commands/mcp-withdraw.ts";
import { ALLOW, BUS, collect, POLICY } from "./common-options.ts";

/** What `--mcp-config` means, wherever it is an option. */
export const MCP_CONFIG = "a file that names MCP servers, in the common mcpServers form; else MCP_CONFIG";

const REDIS = "of bridges that share this Redis, redis(s)://user:password@host:port/database, not of the running rockbot up";

/** Adds `rockbot mcp` and its commands. */
export function addMcpCommand(program: Command): void {
  const mcp = program.command("mcp").description("Look after MCP servers, or be one.");

  mcp
    .command("ls")
    .description("List the MCP servers: state, transport, protocol, tools, and why one is away.")
    .option("--bus <url>", `${BUS}; behind a broker, which servers there are, with their tools`)
    .option("--policy <file>", "says whether the broker verifies senders, and as whom the bridge speaks; else POLICY_FILE")
    .option("--mcp-config <file>", `${MCP_CONFIG}; tries its servers from here, whatever runs`)
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Examples:
  rockbot mcp ls                                  those of the running "rockbot up"
  rockbot mcp ls --bus amqp://user@host/vhost     those behind a broker, as its bridge tells agents
  rockbot mcp ls --mcp-config mcp.json            do these servers start, and what do they offer?

What a server wrote to stderr before it failed is shown, cut. Exit code 1 if one is not ready. A bridge tells over the
bus what servers offer, not how they stand, and tries those that are away again when it is asked.`,
    )
    .action(async (options: McpListOptions) => (await import("./commands/mcp-list.ts")).listMcpServers(options));

  mcp
    .command("serve")
    .description("Be an MCP server on stdin and stdout: every tool and guide, for a desktop client or an agent that starts this command.")
    .option("--bus <url>", BUS)
    .option("--policy <file>", POLICY)
    .option("--mcp-config <file>", `${MCP_CONFIG}; only if no "rockbot up" runs`)
    .option("--allow-address <address>", `${ALLOW}; only if the tools run in this process`, collect)
    .addHelpText(
      "after",
      `
Examples:
  rockbot mcp serve                               the tools of the running "rockbot up", else started here
  rockbot mcp serve --bus amqp://user@host/vhost  those behind a broker

In a client's configuration: "rockbot": { "command": "/path/to/rockbot", "args": ["mcp", "serve"] }
Ends when the client closes stdin. The gateway serves the same over HTTP, at /mcp.`,
    )
    .action(async (options: McpServeOptions) => (await import("./commands/mcp-serve.ts")).serveMcp(options));

  mcp
    .command("approve")
    .description(
      "Show what waits for an approval, and approve it: definitions of tools that are new or have changed, servers that agents ask for, and such that were rejected.",
    )
    .argument("[server]", "approve what waits of this server; left out: only list")
    .argument("[tool]", "this tool of it only")
    .option("--yes", "approve what is shown without asking")
    .option("--redis <url>", REDIS)
    .option("--mcp-config <file>", `${MCP_CONFIG}; with nothing running, what waits of its servers, by the mcp.lock.json beside it`)
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Examples:
  rockbot mcp approve                             what waits, and what has changed
  rockbot mcp approve files                       all that waits of the server files, after a question
  rockbot mcp approve files read_file --yes       one tool

What is approved is what is shown: if it changes meanwhile, it waits again. A server that an agent asks for is shown
with the exact command or address; the agent may have it once. To refuse: rockbot mcp reject SERVER [TOOL]. What was
rejected or removed is shown as such, and is approved after all if nothing else of its name waits.`,
    )
    .action(async (server: string | undefined, tool: string | undefined, options: McpApproveOptions) =>
      (await import("./commands/mcp-approve.ts")).approveMcp(server, tool, options),
    );

  withdrawal(
    mcp,
    "reject",
    "Refuse what waits for an approval: a tool that is held waits no more until it changes; of a server that it asks for, the agent may not have the same for a day.",
  )
    .argument("[tool]", "this tool of it only")
    .action(async (server: string, tool: string | undefined, options: McpWithdrawOptions) =>
      (await import("./commands/mcp-withdraw.ts")).rejectMcp(server, tool, options),
    );
  withdrawal(mcp, "remove", "Take away a server that an agent has registered: all bridges leave it, and the agent may not have the same for a day.").action(
    async (server: string, options: McpWithdrawOptions) => (await import("./commands/mcp-withdraw.ts")).removeMcp(server, options),
  );
}

function withdrawal(mcp: Command, name: "reject" | "remove", description: string): Command {
  return mcp
    .command(name)
    .description(description)
    .argument("<server>", "its name")
    .option("--yes", `${name} what is shown without asking`)
    .option("--redis <url>", REDIS)
    .option("--mcp-config <file>", `${MCP_CONFIG}; with nothing running, by the mcp.lock.json beside it`);
}
