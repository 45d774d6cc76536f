import { isName, parseJson } from "@rockbot/contracts";
import { busUrlFaults, chooseBusUrl, displayBusUrl, MEMORY_BUS } from "../bus-url.ts";
import { CommandError } from "../command-error.ts";
import type { CaseResult } from "../conformance/case.ts";
import type { SafeCall } from "../conformance/examiner.ts";
import { clauses } from "../conformance/generated/clauses.ts";
import { type ConformanceOptions, runConformance } from "../conformance/run-conformance.ts";
import { serviceCommand } from "../conformance/service-command.ts";
import { ExitCode } from "../exit-code.ts";
import { interruption, unlessInterrupted } from "../terminal/interruption.ts";
import { plainText } from "../terminal/plain-text.ts";
import { UsageError } from "../usage-error.ts";

export interface ConformanceCommandOptions {
  readonly topic: string;
  readonly service?: string;
  readonly tool: string;
  readonly arguments?: string;
  readonly slowTool?: string;
  readonly slowArguments?: string;
  readonly command?: string;
  readonly bus?: string;
  readonly json?: boolean;
}

/** `rockbot conformance`: what a tool service breaks of the contract. */
export async function conformance({ command, json = false, ...options }: ConformanceCommandOptions): Promise<void> {
  const examined = readOptions(options);
  using interrupted = interruption();
  await using service = command === undefined ? undefined : serviceCommand(command, { BUS_URL: examined.url });
  const running = run({ ...examined, process: service, onResult: (result) => print(result, json) });
  const results = await unlessInterrupted(running, interrupted.requested);
  const count = (outcome: CaseResult["outcome"]) => results.filter((result) => result.outcome === outcome).length;
  console.error(`${count("kept")} kept, ${count("broken")} broken, ${count("not tried")} not tried (${examined.service}, ${displayBusUrl(examined.url)})`);
  process.exitCode = count("broken") === 0 ? ExitCode.Ok : ExitCode.Failed;
}

async function run(options: ConformanceOptions): Promise<readonly CaseResult[]> {
  try {
    return await runConformance(options);
  } catch (error) {
    throw new CommandError(`Cannot try "${options.service}" at ${displayBusUrl(options.url)}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function readOptions(options: Omit<ConformanceCommandOptions, "command" | "json">): ConformanceOptions {
  const { topic, tool, slowTool = tool, slowArguments, bus } = options;
  const url = chooseBusUrl(bus, process.env);
  const service = options.service ?? topic.split(".").at(-1) ?? "";
  const quick: SafeCall = { tool, arguments: options.arguments ?? "{}" };
  const slow: SafeCall | undefined = slowArguments === undefined ? undefined : { tool: slowTool, arguments: slowArguments };
  const faults = [
    ...busUrlFaults(url),
    ...(url === MEMORY_BUS ? ["the bus: missing. Expected a broker's address, from --bus, ROCKBOT_BUS or BUS_URL"] : []),
    ...(isRequestTopic(topic) ? [] : [`--topic: expected tool.invoke.{service}, such as tool.invoke.my-service, got ${JSON.stringify(topic)}`]),
    ...(isName(service) ? [] : [`--service: ${JSON.stringify(service)} is no name of a service`]),
    ...(isObject(quick.arguments) ? [] : ["--arguments: expected a JSON object"]),
    ...(slow === undefined || isObject(slow.arguments) ? [] : ["--slow-arguments: expected a JSON object"]),
    ...(slow === undefined && options.slowTool !== undefined ? ["--slow-arguments: missing. With which is it slow?"] : []),
  ];
  if (faults.length > 0) throw new UsageError(faults);
  return { url, topic, service, quick, slow };
}

/** Whether requests of tools come by such a topic. The short ones are those of RockBot's own services. */
const isRequestTopic = (topic: string): boolean =>
  ["tool.invoke", "script.invoke"].includes(topic) || (topic.startsWith("tool.invoke.") && isName(topic.slice("tool.invoke.".length)));

function isObject(text: string): boolean {
  const parsed = parseJson(text);
  return parsed.ok && typeof parsed.value === "object" && parsed.value !== null && !Array.isArray(parsed.value);
}

function print(result: CaseResult, json: boolean): void {
  const { outcome, name, clause, why } = result;
  const contract = clauses[clause];
  if (json) {
    console.log(JSON.stringify({ ...result, contract }));
    return;
  }
  const lines = [`${outcome.padEnd(9)}  ${clause}: ${name}`];
  if (why !== undefined) lines.push(`           ${why}`);
  if (outcome === "broken") lines.push(`           The contract: ${contract}`);
  console.log(plainText(lines.join("\n")));
}
