import type { Command } from "commander";
import type { ChatCommandOptions } from "../commands/chat.ts";
import { BUS, POLICY } from "./common-options.ts";
import { MCP_CONFIG } from "./mcp-command.ts";

/** Adds `rockbot chat`. */
export function addChatCommand(program: Command): void {
  program
    .command("chat")
    .description("Ask the agent one question, or talk to it at the terminal.")
    .option("-p, --prompt <question>", "ask this and end; - reads the question from stdin")
    .option("--session <id>", "the session to go on with (default: a new one)")
    .option("--continue", "go on with the session in which you have spoken last")
    .option("--list", "list your sessions and what you said last in each, the newest first, and end")
    .option("--json", "print each step of the turn as a line of JSON, and the answer as the last one")
    .option("--bus <url>", BUS)
    .option("--timeout <ms>", "the timeout of each turn in milliseconds (default 1200000, the longest)")
    .option("--mcp-config <file>", `${MCP_CONFIG}; only if no "rockbot up" runs`)
    .option("--policy <file>", POLICY)
    .addHelpText(
      "after",
      `
Examples:
  rockbot chat
  rockbot chat -p "What is on https://example.com/?"
  rockbot chat -p "And who runs it?" --session my-notes
  rockbot chat --continue
  rockbot chat --list
  cat question.md | rockbot chat --json | jq -r 'select(.kind == "answer").text'
  rockbot chat --bus amqp://guest:guest@localhost

At a terminal the answer and its tools show as they come. Ctrl-C cancels the turn and the tool that runs for it; Ctrl-C
again ends. Elsewhere only the answer goes to stdout. Exit code 1 also if the answer is not complete.`,
    )
    .action(async (options: ChatCommandOptions) => (await import("../commands/chat.ts")).chat(options));
}
