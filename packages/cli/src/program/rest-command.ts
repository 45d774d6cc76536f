import type { Command } from "commander";
import type { RestOptions } from "../commands/rest.ts";
import { collect } from "./common-options.ts";

const ALLOW = "HOST:PORT, IP:PORT or CIDR that may be called although it is not public; repeatable";

/** Adds `rockbot rest` and its commands. */
export function addRestCommand(program: Command): void {
  const rest = program
    .command("rest")
    .description("Check a file of REST tools, or try one of its tools.")
    .addHelpText(
      "after",
      `
Examples:
  rockbot rest check rest.json
  rockbot rest try get_weather '{"city":"Rome"}' --file rest.json

The service rest-tools reloads the file when its content changes. It keeps the old one if "rest check" would refuse the
new one. Operations of OpenAPI documents that wait for approval are listed by "rockbot mcp approve".`,
    );
  rest
    .command("check")
    .description("List every fault of the file with its line, or the tools that it makes.")
    .argument("<file>", "the file of endpoints and OpenAPI documents, YAML or JSON")
    .option("--allow-address <address>", ALLOW, collect)
    .addHelpText(
      "after",
      "\nExamples:\n  rockbot rest check rest.json\n\nExit code 0 if the file is valid, 2 if not, 1 if a document that it imports cannot be read.",
    )
    .action(async (file: string, options: RestOptions) =>
      (await import("../commands/rest.ts")).checkRestFile(file, options),
    );
  rest
    .command("try")
    .description("Call one tool of the file from this machine. No service has to run, and nothing has to be approved.")
    .argument("<name>", "the name of the tool, with or without rest__")
    .argument("[arguments]", "the arguments as a JSON object")
    .option("--file <file>", "the file of endpoints and OpenAPI documents; default REST_CONFIG")
    .option("--allow-address <address>", ALLOW, collect)
    .addHelpText("after", `\nExamples:\n  rockbot rest try get_weather '{"city":"Rome"}' --file rest.json`)
    .action(async (name: string, json: string | undefined, options: RestOptions) =>
      (await import("../commands/rest.ts")).tryRest(name, json, options),
    );
}
