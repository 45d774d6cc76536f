import { Command } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { addCallsCommand } from "./calls-command.ts";
import type { CallCommandOptions } from "./commands/call.ts";
import type { UpOptions } from "./commands/up.ts";

const BUS = "memory: or amqp(s)://user:password@host/vhost; else ROCKBOT_BUS, else BUS_URL, else memory:";
const ALLOW = "let web_browse read this HOST:PORT or CIDR though it is not public; repeatable";
const collect = (value: string, earlier: readonly string[] = []): string[] => [...earlier, value];

/** The command line as a tree. What a command runs is imported when it runs, so that `--help` and `--version` are quick. */
export function createProgram(): Command {
  const program = new Command("rockbot")
    .description("Tools for LLM agents, each behind a message bus. Start the system, or call a tool from the shell.")
    .version(packageJson.version)
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
  rockbot doctor                                                what is missing on this machine

Results go to stdout, all else to stderr. Exit code: 0 answered, 1 the tool failed, 2 wrong usage (also a tool that does
not exist, or arguments that it does not take), 130 ended by Ctrl-C.`,
    );

  program
    .command("up")
    .description("Start the services in one process and keep them running until Ctrl-C.")
    .option("--only <services>", "only these, separated by commas: web-tools, gateway")
    .option("--bus <url>", BUS)
    .option("--port <number>", "the gateway's port; 0 takes any free one (default 8480)")
    .option("--host <address>", "the address the gateway listens on (default 127.0.0.1); others need the variable GATEWAY_TOKEN")
    .option("--allow-address <address>", ALLOW, collect)
    .option("--config <file>", "YAML or JSON with the sections webTools and gateway")
    .addHelpText(
      "after",
      `
Examples:
  rockbot up
  rockbot up --port 9000 --allow-address 127.0.0.1:3000
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
    .option("--session <id>", "the working-memory namespace the call belongs to")
    .option("--allow-address <address>", `${ALLOW}; only if the tool runs in this process`, collect)
    .addHelpText(
      "after",
      `
Examples:
  rockbot call web_browse '{"url":"https://example.com/"}'
  echo '{"query":"rabbitmq quorum queues"}' | rockbot call web_search - --json
  rockbot call web_browse '{"url":"http://localhost:3000/"}' --allow-address localhost:3000

With a broker's address the call goes to the services behind it; else to the running "rockbot up"; else the tool is
started in this process. Ctrl-C cancels the call, wherever it runs.`,
    )
    .action(async (name: string, args: string | undefined, options: CallCommandOptions) => (await import("./commands/call.ts")).call(name, args, options));

  program
    .command("guide")
    .description("List the guides that teach how to use groups of tools, or print one.")
    .argument("[name]", "the guide to print; case does not matter")
    .option("--bus <url>", BUS)
    .addHelpText("after", "\nExamples:\n  rockbot guide\n  rockbot guide web-tools")
    .action(async (name: string | undefined, options) => (await import("./commands/guide.ts")).guide(name, options));

  addCallsCommand(program);

  program
    .command("doctor")
    .description("Say what is missing on this machine, and what that costs.")
    .option("--bus <url>", BUS)
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  rockbot doctor\n  rockbot doctor --bus amqp://guest:guest@localhost\n\nExit code 0 unless something is broken that RockBot cannot run without.",
    )
    .action(async (options) => (await import("./commands/doctor.ts")).doctor(options));

  return program;
}
