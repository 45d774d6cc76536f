import type { Command } from "commander";
import type { ConformanceCommandOptions } from "../commands/conformance.ts";
import { BUS } from "./common-options.ts";

/** Adds `rockbot conformance`. */
export function addConformanceCommand(program: Command): void {
  program
    .command("conformance")
    .description("Try whether a tool service or a caller, in whatever language, keeps the contract of the bus.")
    .option(
      "--caller <name>",
      "a caller to try, in the place of a service: the runner offers a tool, and waits for its calls",
    )
    .option("--topic <topic>", "the topic of its requests, such as tool.invoke.my-service")
    .option("--service <name>", "its name; else the last word of the topic")
    .option(
      "--tool <name>",
      "a tool of it that is safe to call, often, and that is quick; best one whose result differs each time. Of a caller: the tool that the runner offers (default conformance_step)",
    )
    .option("--arguments <json>", "its arguments, a JSON object (default {})")
    .option("--slow-tool <name>", "one that takes a second or more, and can be cancelled; else the same")
    .option(
      "--slow-arguments <json>",
      "the arguments with which it does so; left out: what needs a slow call is not tried",
    )
    .option(
      "--command <command>",
      "what starts the service or the caller, with BUS_URL set to the bus; left out: it runs already, and what needs it killed is not tried",
    )
    .option("--bus <url>", BUS)
    .option("--json", "print one JSON object per case")
    .addHelpText(
      "after",
      `
Examples:
  rockbot conformance --topic tool.invoke.python --tool roll --arguments '{"sides":6}' --bus amqp://guest:guest@localhost
  rockbot conformance --topic tool.invoke --service web-tools --tool web_browse --arguments '{"url":"https://example.com/"}'
  rockbot conformance --topic tool.invoke.python --tool roll --slow-tool wait --slow-arguments '{"seconds":3}' --command 'python3 service.py'
  rockbot conformance --caller my-agent --command 'go run ./agent' --bus amqp://guest:guest@localhost

Each case is kept, broken or not tried, and names the clause of packages/contracts/asyncapi.yaml that it is about. Use a
broker for tests: the service gets bad requests, some of which are parked (rockbot dlq). It must be the only service on its
topic, with one instance, and the broker must not verify senders. Exit code: 0 if nothing is broken, else 1; 2 wrong usage.`,
    )
    .action(async (options: ConformanceCommandOptions) =>
      (await import("../commands/conformance.ts")).conformance(options),
    );
}
