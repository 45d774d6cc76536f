import type { Command } from "commander";
import type { CallsOptions } from "./commands/calls.ts";

const REDIS = "read the journals in this Redis, redis(s)://user:password@host:port/database, not those of the running rockbot up";

/** Adds `rockbot calls` and `rockbot calls show`. */
export function addCallsCommand(program: Command): void {
  const calls = program
    .command("calls")
    .description("List recent calls: when, how they stand, how long they took, attempts, tool, caller, id.")
    .option("--limit <count>", "how many, at most 1000 (default 20)")
    .option("--json", "print JSON")
    .option("--redis <url>", REDIS)
    .addHelpText(
      "after",
      `
Examples:
  rockbot calls
  rockbot calls --limit 100 --json | jq '.[] | select(.state == "failed")'
  rockbot calls --redis redis://localhost
  rockbot calls show 0123456789abcdef0123456789abcdef

The calls are those that the running "rockbot up" made, of the last day and at most 10000 of each caller. It is asked by
its socket, which only its user can open. A gateway with REDIS_URL keeps its journal in Redis, over its restarts.`,
    )
    .action(async (options: CallsOptions) => (await import("./commands/calls.ts")).listCalls(options));

  calls
    .command("show")
    .description("Show the time line of one call.")
    .argument("<id>", 'its toolCallId, as in "rockbot calls"')
    .option("--json", "print JSON")
    .option("--redis <url>", REDIS)
    .action(async (id: string, _: CallsOptions, command: Command) => (await import("./commands/calls.ts")).showCall(id, command.optsWithGlobals()));
}
