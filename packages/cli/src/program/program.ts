import { version } from "@rockbot/base/version";
import { busServices } from "@rockbot/services";
import { Command } from "commander";
import type { CallCommandOptions } from "../commands/call.ts";
import type { DlqCommandOptions } from "../commands/dlq.ts";
import type { UpOptions } from "../commands/up.ts";
import { addAgentsCommand } from "./agents-command.ts";
import { addApprovalsCommand } from "./approvals-command.ts";
import { addAuditCommand } from "./audit-command.ts";
import { addBrokerCommand } from "./broker-command.ts";
import { addCallsCommand } from "./calls-command.ts";
import { addChatCommand } from "./chat-command.ts";
import { ALLOW, BUS, collect, POLICY } from "./common-options.ts";
import { addCompletionCommand } from "./completion-command.ts";
import { addComposeCommand } from "./compose-command.ts";
import { addConformanceCommand } from "./conformance-command.ts";
import { addGoogleCommand } from "./google-command.ts";
import { addKnowledgeCommand } from "./knowledge-command.ts";
import { addMcpCommand, MCP_CONFIG } from "./mcp-command.ts";
import { addPolicyCommand } from "./policy-command.ts";
import { addRestCommand } from "./rest-command.ts";
import { addSchedulesCommand } from "./schedules-command.ts";

const DLQ_POLICY = "the policy file, for a broker that verifies senders; default POLICY_FILE";

/**
 * The command line as a tree. The code of a command is imported when the command runs, so that `--help` and `--version`
 * are quick.
 */
// Long because: the commands are listed side by side, each with its help
export function createProgram(): Command {
  const program = new Command("rockbot")
    .description("Run tools for LLM agents behind a message bus. Start the system, or call a tool from the shell.")
    .version(version)
    .exitOverride()
    .showHelpAfterError("(rockbot --help shows the commands)")
    .addHelpText(
      "after",
      `
Examples:
  rockbot up                                                    start everything in one process
  rockbot tools                                                 list the tools
  rockbot call web_browse url=https://example.com/              call one tool; no running system is needed
  rockbot open                                                  open the console in the browser
  rockbot chat                                                  talk to the agent
  rockbot schedules ls                                          list scheduled tasks
  rockbot guide web-tools                                       print how to use a group of tools
  rockbot mcp ls                                                list the MCP servers and their state
  rockbot mcp serve                                             serve the tools to a desktop MCP client
  rockbot mcp approve                                           list the tools and servers that wait for approval
  rockbot policy explain researcher web_search                  say whether a caller may use a tool, and why
  rockbot dlq list                                              list the messages that no service could handle
  rockbot doctor                                                check what works, what is off, and what is broken

Results go to stdout, everything else to stderr. Exit codes: 0 success, 1 the tool failed, 2 wrong usage, 130 stopped by
Ctrl-C, 143 by SIGTERM. An unknown tool and arguments that a tool refuses are wrong usage.`,
    );

  program
    .command("up")
    .description("Start the services in one process, and run them until Ctrl-C.")
    .option(
      "--only <services>",
      `start only these services, separated by commas: ${busServices.map(({ name }) => name).join(", ")}`,
    )
    .option("--bus <url>", BUS)
    .option("--port <number>", "the port of the gateway; 0 takes any free port (default 8480)")
    .option(
      "--host <address>",
      "the address of the gateway (default 127.0.0.1); an address that others can reach needs GATEWAY_TOKEN",
    )
    .option("--allow-address <address>", ALLOW, collect)
    .option("--mcp-config <file>", MCP_CONFIG)
    .option(
      "--unsafe-local-scripts",
      "run scripts without a sandbox if this machine has none; for development, and only for callers whose policy names the tool",
    )
    .option("--audit <file>", "append one line for each call to this file; see rockbot audit")
    .option("--config <file>", "a YAML or JSON file with a section for each service, such as webTools for web-tools")
    .option("--policy <file>", POLICY)
    .addHelpText(
      "after",
      `
Examples:
  rockbot up
  rockbot up --port 9000 --allow-address 127.0.0.1:3000
  rockbot up --mcp-config mcp.json                                   add the MCP servers of a file
  rockbot up --only web-tools --bus amqp://guest:guest@localhost      run one service over a broker

Each setting of the file is also a variable: braveApiKey is BRAVE_API_KEY. An option beats a variable, and a variable
beats the file. The log is text at a terminal and JSON elsewhere; LOG_FORMAT=json or LOG_FORMAT=text forces one.
At a terminal it has warnings and errors only, unless the variable LOG_LEVEL asks for more, as LOG_LEVEL=info does.
Without Redis, calls that wait for people are kept in runs.db, in the folder DATA_DIRECTORY or else .rockbot.
Other commands reach this process through a unix socket; over a broker only such as open, calls, dlq and mcp ls do,
and a gateway has to run here. Its folder is $ROCKBOT_RUNTIME_DIR,
else $XDG_RUNTIME_DIR/rockbot, else {tmpdir}/rockbot-{uid}. A folder that is there already needs the mode 0700.`,
    )
    .action(async (options: UpOptions) => (await import("../commands/up.ts")).up(options));

  program
    .command("open")
    .description("Open the console of the running rockbot up in the browser.")
    .option("--print", "print the link instead, which opens the console once, within 5 minutes")
    .addHelpText(
      "after",
      `
Examples:
  rockbot open
  rockbot open --print

The link logs you in as the operator of this machine, until "rockbot up" ends. On a machine that you share, use --print:
other users can see the arguments of the programs that you start, and so the link that a browser gets.`,
    )
    .action(async (options) => (await import("../commands/open.ts")).open(options));

  program
    .command("tools")
    .description("List the tools that you can call now, or print all about one.")
    .argument("[tool]", "the name of a tool, to read its whole description and its arguments")
    .option("--bus <url>", BUS)
    .option("--mcp-config <file>", `${MCP_CONFIG}; only if no "rockbot up" runs`)
    .option("--policy <file>", POLICY)
    .option("--json", "print JSON with the full schemas")
    .addHelpText(
      "after",
      "\nExamples:\n  rockbot tools\n  rockbot tools web_browse\n  rockbot tools --json | jq '.[].name'\n  rockbot tools --bus amqp://guest:guest@localhost",
    )
    .action(async (name: string | undefined, options) =>
      (await import("../commands/list-tools.ts")).listTools(name, options),
    );

  program
    .command("call")
    .description("Call one tool and print its answer.")
    .argument("<tool>", 'the name of the tool, as "rockbot tools" prints it')
    .argument("[arguments...]", "a JSON object, - to read one from stdin, or words key=value, key=@file, key:=JSON")
    .option("--bus <url>", BUS)
    .option("--json", "print the whole answer as JSON, or the error of a call that failed")
    .option("--timeout <ms>", "the timeout of the call in milliseconds (default 60000, at most 1200000)")
    .option("--detach", "do not wait: print the call's id, and let it run for up to 24 hours")
    .option(
      "--id <id>",
      "the call's id, 32 hex digits: the same id with the same arguments is the same call (default: a new one)",
    )
    .option("--policy <file>", POLICY)
    .option("--session <id>", "the working-memory namespace of the call")
    .option("--allow-address <address>", `${ALLOW}; only if the tool runs in this process`, collect)
    .option("--mcp-config <file>", `${MCP_CONFIG}; only if no "rockbot up" runs`)
    .addHelpText(
      "after",
      `
Examples:
  rockbot call web_browse url=https://example.com/
  rockbot call web_browse '{"url":"https://example.com/"}'
  rockbot call execute_python_script script=@report.py pip_packages=numpy pip_packages=pandas
  echo '{"query":"rabbitmq quorum queues"}' | rockbot call web_search - --json
  rockbot call web_browse url=http://localhost:3000/ --allow-address localhost:3000
  rockbot call files__list_directory path=. --mcp-config mcp.json
  rockbot calls wait $(rockbot call execute_python_script script=@long.py --detach)

The schema of the tool gives each key=value its type. Repeat a key for an array, and write a.b=1 for a property of an
object. key=@file takes the text of a file. key:=JSON takes JSON, where the type of a value is ambiguous.

With the address of a broker the call goes to the services behind it; else to the running "rockbot up"; else the tool
starts in this process. Ctrl-C cancels the call, wherever it runs. A call that waits for a person when its time is over
goes on, except in this process, and the exit code is 3.`,
    )
    .action(async (name: string, args: readonly string[], options: CallCommandOptions) =>
      (await import("../commands/call.ts")).call(name, args, options),
    );

  addChatCommand(program);

  program
    .command("guide")
    .description("List the guides to groups of tools, or print one.")
    .argument("[guide]", "the name of the guide, in any case")
    .option("--bus <url>", BUS)
    .option("--mcp-config <file>", `${MCP_CONFIG}; only if no "rockbot up" runs`)
    .addHelpText("after", "\nExamples:\n  rockbot guide\n  rockbot guide web-tools")
    .action(async (name: string | undefined, options) => (await import("../commands/guide.ts")).guide(name, options));

  addSchedulesCommand(program);
  addCallsCommand(program);
  addApprovalsCommand(program);
  addMcpCommand(program);
  addAgentsCommand(program);
  addKnowledgeCommand(program);
  addGoogleCommand(program);
  addAuditCommand(program);
  addDlq(program);
  addPolicyCommand(program);
  addRestCommand(program);
  addBrokerCommand(program);
  addComposeCommand(program);
  addConformanceCommand(program);
  addCompletionCommand(program);

  program
    .command("doctor")
    .description(
      "Check the running system, or this machine where none runs: what works, what is off, and what is broken.",
    )
    .option("--bus <url>", BUS)
    .option("--policy <file>", DLQ_POLICY)
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      '\nExamples:\n  rockbot doctor\n  rockbot doctor --bus amqp://guest:guest@localhost\n\nA running "rockbot up" says what it finds with its own settings; of services behind a broker only their policy is known.\nWhat is off is optional. Exit code 1 if something is broken that is set up, else 0.',
    )
    .action(async (options) => (await import("../commands/doctor.ts")).doctor(options));

  return program;
}

/** `rockbot dlq` and its commands, for the operator. */
// Long because: the commands are listed side by side, each with its help
function addDlq(program: Command): void {
  type Action = "list" | "show" | "replay" | "purge";
  const run =
    (action: Action) =>
    async (service: string | undefined, id: string | undefined, options: DlqCommandOptions): Promise<void> =>
      (await import("../commands/dlq.ts")).dlq(action, service, id, options);
  const group = program
    .command("dlq")
    .description("List, replay or purge dead letters: messages that no service could handle. Each is kept for 7 days.")
    .addHelpText(
      "after",
      `
Examples:
  rockbot dlq list                                              list the messages parked for running services
  rockbot dlq show web-tools 8f14e45fceea167a5a36dedd4bea2543   print the reason, sender and body of one message
  rockbot dlq replay web-tools --all --timeout 20000            send them to the service again
  rockbot dlq purge web-tools --all --yes                       delete them

With the address of a broker (--bus, ROCKBOT_BUS) the commands read the broker's parked messages. Otherwise they read
those of the running "rockbot up", through its socket. An interrupted command loses nothing: a message stays parked until
the command reports it as removed. Message texts are shortened, and their control characters escaped.`,
    );

  group
    .command("list")
    .description("List parked messages, oldest first: time, service, id, reason, tool, size.")
    .argument("[service]", "the service whose messages to list (default: every running service)")
    .option("--bus <url>", BUS)
    .option("--policy <file>", DLQ_POLICY)
    .option("--json", "print one JSON object per line")
    .option("--limit <number>", "the largest number of messages for each service (default 100)")
    .addHelpText(
      "after",
      `
Examples:
  rockbot dlq list
  rockbot dlq list web-tools --json | jq -r .id

Reasons: rejected (the message names no caller to answer), failed (the handler threw twice), crashed (consumers died
while they handled it), expired (no consumer took it in time, and its caller got a timeout).`,
    )
    .action(async (service: string | undefined, options: DlqCommandOptions) =>
      run("list")(service, undefined, options),
    );

  group
    .command("show")
    .description("Print one parked message.")
    .argument("<service>", "the service that the message is parked for")
    .argument("<id>", 'the id of the message, as "dlq list" prints it')
    .option("--bus <url>", BUS)
    .option("--policy <file>", DLQ_POLICY)
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExamples:\n  rockbot dlq show web-tools 8f14e45fceea167a5a36dedd4bea2543")
    .action(run("show"));

  group
    .command("replay")
    .description("Send parked messages to their service again and print the answers.")
    .argument("<service>", "the service that the messages are parked for")
    .argument("[id]", "the id of one message; or use --all")
    .option("--all", "replay every message, oldest first, one at a time")
    .option("--bus <url>", BUS)
    .option("--policy <file>", DLQ_POLICY)
    .option("--json", "print one JSON object per message")
    .option("--timeout <ms>", "the timeout of each message in milliseconds (default 60000, at most 1200000)")
    .addHelpText(
      "after",
      `
Examples:
  rockbot dlq replay web-tools 8f14e45fceea167a5a36dedd4bea2543
  rockbot dlq replay web-tools --all --json

A message keeps its id and its caller. So a call that has already run returns its kept answer and has no second effect,
as long as the service still knows its claim. A cancelled call stays cancelled. The answer comes to you, not to the original
caller. A message is removed after a final answer, and kept after an error that may pass. With --all the replay
stops at the first message without an answer. Exit code 1 if a message failed or got no answer.`,
    )
    .action(run("replay"));

  group
    .command("purge")
    .description("Delete parked messages for good.")
    .argument("<service>", "the service that the messages are parked for")
    .argument("[id]", "the id of one message; or use --all")
    .option("--all", "delete every message")
    .option("--yes", "confirm; the command does not ask")
    .option("--bus <url>", BUS)
    .option("--policy <file>", DLQ_POLICY)
    .option("--json", "print one JSON object per message")
    .addHelpText(
      "after",
      "\nExamples:\n  rockbot dlq purge web-tools 8f14e45fceea167a5a36dedd4bea2543 --yes\n  rockbot dlq purge web-tools --all --yes",
    )
    .action(run("purge"));
}
