import { version } from "@rockbot/base/version";
import { Command } from "commander";
import { addAuditCommand } from "./audit-command.ts";
import { addBrokerCommand } from "./broker-command.ts";
import { addCallsCommand } from "./calls-command.ts";
import type { CallCommandOptions } from "./commands/call.ts";
import type { DlqCommandOptions } from "./commands/dlq.ts";
import type { UpOptions } from "./commands/up.ts";
import { ALLOW, BUS, collect, POLICY } from "./common-options.ts";
import { addMcpCommand, MCP_CONFIG } from "./mcp-command.ts";
import { addPolicyCommand } from "./policy-command.ts";

const DLQ_POLICY = "whose messages are whose, where the broker verifies senders; else POLICY_FILE";

/** The command line as a tree. What a command runs is imported when it runs, so that `--help` and `--version` are quick. */
export function createProgram(): Command {
  const program = new Command("rockbot")
    .description("Tools for LLM agents, each behind a message bus. Start the system, or call a tool from the shell.")
    .version(version)
    .exitOverride()
    .showHelpAfterError("(rockbot --help shows the commands)")
    .addHelpText(
      "after",
      `
Examples:
  rockbot up                                                    start everything in one process
  rockbot tools                                                 what can be called
  rockbot call web_browse '{"url":"https://example.com/"}'      call one tool; works with nothing running, too
  rockbot guide web-tools                                       how to use a group of tools
  rockbot mcp ls                                                how the MCP servers stand
  rockbot mcp serve                                             be an MCP server, for a desktop client
  rockbot mcp approve                                           what of them waits for an approval
  rockbot policy explain researcher web_search                  who may do what, and why
  rockbot dlq list                                              messages that no service could handle
  rockbot doctor                                                what is missing on this machine

Results go to stdout, all else to stderr. Exit code: 0 answered, 1 the tool failed, 2 wrong usage (also a tool that does
not exist, or arguments that it does not take), 130 ended by Ctrl-C.`,
    );

  program
    .command("up")
    .description("Start the services in one process and keep them running until Ctrl-C.")
    .option("--only <services>", "only these, separated by commas: web-tools, mcp-bridge, scripts-manager, gateway")
    .option("--bus <url>", BUS)
    .option("--port <number>", "the gateway's port; 0 takes any free one (default 8480)")
    .option("--host <address>", "the address the gateway listens on (default 127.0.0.1); others need the variable GATEWAY_TOKEN")
    .option("--allow-address <address>", ALLOW, collect)
    .option("--mcp-config <file>", MCP_CONFIG)
    .option("--unsafe-local-scripts", "run scripts without a sandbox where this machine gives none; for development, and callers whose policy names the tool")
    .option("--audit <file>", "append a line to this file for each call; see rockbot audit")
    .option("--config <file>", "YAML or JSON with the sections webTools, mcpBridge, scriptsManager and gateway")
    .option("--policy <file>", POLICY)
    .addHelpText(
      "after",
      `
Examples:
  rockbot up
  rockbot up --port 9000 --allow-address 127.0.0.1:3000
  rockbot up --mcp-config mcp.json                                   with the MCP servers that the file names
  rockbot up --only web-tools --bus amqp://guest:guest@localhost      one service over a broker; others join elsewhere

Everything that a section of the file can hold can also be set by a variable: braveApiKey is BRAVE_API_KEY. An option
beats a variable, a variable beats the file. Over the in-memory bus other commands reach this process by a unix socket
in $ROCKBOT_RUNTIME_DIR, else $XDG_RUNTIME_DIR/rockbot, else {tmpdir}/rockbot-{uid}.`,
    )
    .action(async (options: UpOptions) => (await import("./commands/up.ts")).up(options));

  program
    .command("tools")
    .description("List the tools that can be called now.")
    .option("--bus <url>", BUS)
    .option("--mcp-config <file>", `${MCP_CONFIG}; only if no "rockbot up" runs`)
    .option("--policy <file>", POLICY)
    .option("--json", "print JSON, with the full schemas")
    .addHelpText("after", "\nExamples:\n  rockbot tools\n  rockbot tools --json | jq '.[].name'\n  rockbot tools --bus amqp://guest:guest@localhost")
    .action(async (options) => (await import("./commands/list-tools.ts")).listTools(options));

  program
    .command("call")
    .description("Call one tool and print its answer.")
    .argument("<name>", 'the tool, as in "rockbot tools"')
    .argument("[arguments]", "a JSON object, or - to read one from stdin; left out: no arguments")
    .option("--bus <url>", BUS)
    .option("--json", "print the whole answer as JSON, or the error if the call failed")
    .option("--timeout <ms>", "how long the call may take, in milliseconds (default 60000, at most 1200000)")
    .option("--policy <file>", POLICY)
    .option("--session <id>", "the working-memory namespace the call belongs to")
    .option("--allow-address <address>", `${ALLOW}; only if the tool runs in this process`, collect)
    .option("--mcp-config <file>", `${MCP_CONFIG}; only if no "rockbot up" runs`)
    .addHelpText(
      "after",
      `
Examples:
  rockbot call web_browse '{"url":"https://example.com/"}'
  echo '{"query":"rabbitmq quorum queues"}' | rockbot call web_search - --json
  rockbot call web_browse '{"url":"http://localhost:3000/"}' --allow-address localhost:3000
  rockbot call files__list_directory '{"path":"."}' --mcp-config mcp.json

With a broker's address the call goes to the services behind it; else to the running "rockbot up"; else the tool is
started in this process. Ctrl-C cancels the call, wherever it runs.`,
    )
    .action(async (name: string, args: string | undefined, options: CallCommandOptions) => (await import("./commands/call.ts")).call(name, args, options));

  program
    .command("guide")
    .description("List the guides that teach how to use groups of tools, or print one.")
    .argument("[name]", "the guide to print; case does not matter")
    .option("--bus <url>", BUS)
    .option("--mcp-config <file>", `${MCP_CONFIG}; only if no "rockbot up" runs`)
    .addHelpText("after", "\nExamples:\n  rockbot guide\n  rockbot guide web-tools")
    .action(async (name: string | undefined, options) => (await import("./commands/guide.ts")).guide(name, options));

  addCallsCommand(program);
  addMcpCommand(program);
  addAuditCommand(program);
  addDlq(program);
  addPolicyCommand(program);
  addBrokerCommand(program);

  program
    .command("doctor")
    .description("Say what is missing on this machine, and what that costs.")
    .option("--bus <url>", BUS)
    .option("--policy <file>", DLQ_POLICY)
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  rockbot doctor\n  rockbot doctor --bus amqp://guest:guest@localhost\n\nExit code 0 unless something is broken that RockBot cannot run without.",
    )
    .action(async (options) => (await import("./commands/doctor.ts")).doctor(options));

  return program;
}

/** `rockbot dlq` and its commands, for the operator. */
function addDlq(program: Command): void {
  type Action = "list" | "show" | "replay" | "purge";
  const run =
    (action: Action) =>
    async (service: string | undefined, id: string | undefined, options: DlqCommandOptions): Promise<void> =>
      (await import("./commands/dlq.ts")).dlq(action, service, id, options);
  const group = program
    .command("dlq")
    .description("Look after the messages that no service could handle: each is parked for 7 days.")
    .addHelpText(
      "after",
      `
Examples:
  rockbot dlq list                                              what is parked for the services that run
  rockbot dlq show web-tools 8f14e45fceea167a5a36dedd4bea2543   one message: why, from whom, and its body
  rockbot dlq replay web-tools --all --timeout 20000            let the service answer them now
  rockbot dlq purge web-tools --all --yes                       throw them away

With a broker's address (--bus, ROCKBOT_BUS) these are the broker's parked messages, else those of the running
"rockbot up", through its socket. Nothing is lost if a command is interrupted: what it has not reported as removed is
still parked. Message texts are shown cut, with control characters escaped.`,
    );

  group
    .command("list")
    .description("List parked messages, oldest first: when, for whom, id, reason, tool, size.")
    .argument("[service]", "only this service's; left out: of all services that run")
    .option("--bus <url>", BUS)
    .option("--policy <file>", DLQ_POLICY)
    .option("--json", "print one JSON object per line")
    .option("--limit <number>", "how many of each service (default 100)")
    .addHelpText(
      "after",
      `
Examples:
  rockbot dlq list
  rockbot dlq list web-tools --json | jq -r .id

Reasons: rejected (nobody could be answered), failed (the handler threw twice), crashed (consumers died over it), expired
(nobody took it in time; its caller has been told so).`,
    )
    .action(async (service: string | undefined, options: DlqCommandOptions) => run("list")(service, undefined, options));

  group
    .command("show")
    .description("Print one parked message.")
    .argument("<service>", "the service it is parked for")
    .argument("<id>", 'its id, as "dlq list" shows it')
    .option("--bus <url>", BUS)
    .option("--policy <file>", DLQ_POLICY)
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExamples:\n  rockbot dlq show web-tools 8f14e45fceea167a5a36dedd4bea2543")
    .action(run("show"));

  group
    .command("replay")
    .description("Send parked messages to their service again and print the answers.")
    .argument("<service>", "the service they are parked for")
    .argument("[id]", "one message; or --all")
    .option("--all", "all of them, oldest first, one at a time")
    .option("--bus <url>", BUS)
    .option("--policy <file>", DLQ_POLICY)
    .option("--json", "print one JSON object per message")
    .option("--timeout <ms>", "how long each may take, in milliseconds (default 60000, at most 1200000)")
    .addHelpText(
      "after",
      `
Examples:
  rockbot dlq replay web-tools 8f14e45fceea167a5a36dedd4bea2543
  rockbot dlq replay web-tools --all --json

A message keeps its id and its caller, so a call that has run already gives its kept answer and has no second effect, as
far as the service's claims reach; one that its caller cancelled stays cancelled. The answer comes to you, not to the
original caller. A message is removed once it has an answer that would be the same next time; one whose error may pass is
kept. With --all the first message without any answer ends the replay. Exit code 1 if one was not answered or failed.`,
    )
    .action(run("replay"));

  group
    .command("purge")
    .description("Throw parked messages away, for good.")
    .argument("<service>", "the service they are parked for")
    .argument("[id]", "one message; or --all")
    .option("--all", "all of them")
    .option("--yes", "needed: nobody asks again")
    .option("--bus <url>", BUS)
    .option("--policy <file>", DLQ_POLICY)
    .option("--json", "print one JSON object per message")
    .addHelpText("after", "\nExamples:\n  rockbot dlq purge web-tools 8f14e45fceea167a5a36dedd4bea2543 --yes\n  rockbot dlq purge web-tools --all --yes")
    .action(run("purge"));
}
