import type { Command } from "commander";
import type { CallsOptions } from "../commands/calls.ts";
import type { OwnCallOptions } from "../commands/own-calls.ts";
import { BUS, POLICY } from "./common-options.ts";

const REDIS =
  "read the journals in this Redis, redis(s)://user:password@host:port/database, instead of the running rockbot up";

/** Adds `rockbot calls` and its commands. */
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

  own(calls.command("wait"), "Wait for the end of a call of yours, and print it as call does.")
    .option("--timeout <ms>", "how long it waits, in milliseconds (default and at most 86400000, a day)")
    .addHelpText(
      "after",
      `
Exit code 3 if the call has not ended by then. Ctrl-C ends the wait, and not the call.${WHERE}`,
    )
    .action(async (id: string, _: OwnCallOptions, command: Command) =>
      (await import("../commands/own-calls.ts")).waitForCall(id, command.optsWithGlobals()),
    );
  own(calls.command("result"), "Print the end of a call of yours, or with exit code 3 how it stands.")
    .addHelpText("after", WHERE)
    .action(async (id: string, _: OwnCallOptions, command: Command) =>
      (await import("../commands/own-calls.ts")).showResult(id, command.optsWithGlobals()),
    );
  own(calls.command("cancel"), "Cancel a call of yours that runs, or waits for a person.")
    .addHelpText("after", WHERE)
    .action(async (id: string, _: OwnCallOptions, command: Command) =>
      (await import("../commands/own-calls.ts")).cancelCall(id, command.optsWithGlobals()),
    );
}

const WHERE = `

With the address of a broker the command reads the record of the call in the Redis of the services; else it asks the
running "rockbot up". The end of a detached call, and of one that has waited, is kept for a day, that of others 15 minutes.`;

/** What the commands for one call of the user have in common. */
const own = (command: Command, description: string): Command =>
  command
    .description(description)
    .argument("<id>", 'the id, as "rockbot call --detach" prints it')
    .option("--bus <url>", BUS)
    .option("--redis <url>", "the Redis of the services behind the broker; default REDIS_URL")
    .option("--policy <file>", POLICY)
    .option("--json", "print JSON");
