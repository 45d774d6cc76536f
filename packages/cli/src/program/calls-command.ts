import type { Command } from "commander";
import type { CallsOptions } from "../commands/calls.ts";

const REDIS =
  "read the journals in this Redis, redis(s)://user:password@host:port/database, instead of the running rockbot up";

/** Adds `rockbot calls` and `rockbot calls show`. */
export function addCallsCommand(program: Command): void {
  const calls = program
    .command("calls")
    .description("List recent calls: time, state, duration, attempts, tool, caller, id.")
    .option("--limit <count>", "the largest number of calls, at most 1000 (default 20)")
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

The command lists calls of the running "rockbot up": of the last day, at most 10000 for each caller. It asks through a
socket that only the same user can open. A gateway with REDIS_URL keeps its journal in Redis, across restarts.`,
    )
    .action(async (options: CallsOptions) => (await import("../commands/calls.ts")).listCalls(options));

  calls
    .command("show")
    .description("Print the timeline of one call.")
    .argument("<id>", 'the toolCallId, as "rockbot calls" prints it, or its beginning')
    .option("--json", "print JSON")
    .option("--redis <url>", REDIS)
    .action(async (id: string, _: CallsOptions, command: Command) =>
      (await import("../commands/calls.ts")).showCall(id, command.optsWithGlobals()),
    );
}
