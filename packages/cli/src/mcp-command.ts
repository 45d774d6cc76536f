import type { Command } from "commander";
import type { McpListOptions } from "./commands/mcp-list.ts";

/** What `--mcp-config` means, wherever it is an option. */
export const MCP_CONFIG = "a file that names MCP servers, in the common mcpServers form; else MCP_CONFIG";

/** Adds `rockbot mcp` and its commands. */
export function addMcpCommand(program: Command): void {
  const mcp = program.command("mcp").description("Look after MCP servers.");

  mcp
    .command("ls")
    .description("List the MCP servers: state, transport, protocol, tools, and why one is away.")
    .option("--mcp-config <file>", `${MCP_CONFIG}; tries its servers from here, whatever runs`)
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Examples:
  rockbot mcp ls                                  those of the running "rockbot up"
  rockbot mcp ls --mcp-config mcp.json            do these servers start, and what do they offer?

What a server wrote to stderr before it failed is shown, cut. Exit code 1 if one is not ready.`,
    )
    .action(async (options: McpListOptions) => (await import("./commands/mcp-list.ts")).listMcpServers(options));
}
