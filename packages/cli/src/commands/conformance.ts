import {
  type CalleeOptions,
  type CaseResult,
  type ConformanceOptions,
  clauseText,
  runCallerConformance,
  runConformance,
  type SafeCall,
  serviceCommand,
} from "@rockbot/conformance";
import { isName, parseJson } from "@rockbot/contracts";
import { busUrlFaults, chooseBusUrl, displayBusUrl, MEMORY_BUS } from "../bus-url.ts";
import { CommandError } from "../command-error.ts";
import { ExitCode } from "../exit-code.ts";
import { interruption, unlessInterrupted } from "../terminal/interruption.ts";
import { plainText } from "../terminal/plain-text.ts";
import { UsageError } from "../usage-error.ts";

/** What the runner offers to a caller. */
const CALLEE_TOOL = "conformance_step";

export interface ConformanceCommandOptions {
  readonly caller?: string;
  readonly topic?: string;
  readonly service?: string;
  readonly tool?: string;
  readonly arguments?: string;
  readonly slowTool?: string;
  readonly slowArguments?: string;
  readonly command?: string;
  readonly bus?: string;
  readonly json?: boolean;
}

/** `rockbot conformance`: what a tool service, or a caller, breaks of the contract. */
export async function conformance({
  command,
  json = false,
  caller,
  ...options
}: ConformanceCommandOptions): Promise<void> {
  const examined = caller === undefined ? readOptions(options) : readCaller(caller, options);
  using interrupted = interruption();
  await using process_ = command === undefined ? undefined : serviceCommand(command, { BUS_URL: examined.url });
  const more = { process: process_, onResult: (result: CaseResult) => print(result, json) };
  const running =
    "caller" in examined ? runCallerConformance({ ...examined, ...more }) : runConformance({ ...examined, ...more });
  const name = "caller" in examined ? examined.caller : examined.service;
  const results = await unlessInterrupted(running.catch(cannotTry(name, examined.url)), interrupted.requested);
  const count = (outcome: CaseResult["outcome"]) => results.filter((result) => result.outcome === outcome).length;
  console.error(
    `${count("kept")} kept, ${count("broken")} broken, ${count("not tried")} not tried (${name}, ${displayBusUrl(examined.url)})`,
  );
  process.exitCode = count("broken") === 0 ? ExitCode.Ok : ExitCode.Failed;
}

const cannotTry =
  (name: string, url: string) =>
  (error: unknown): never => {
    throw new CommandError(
      `Cannot try "${name}" at ${displayBusUrl(url)}: ${error instanceof Error ? error.message : String(error)}`,
    );
  };

function readUrl(bus: string | undefined): { readonly url: string; readonly faults: readonly string[] } {
  const url = chooseBusUrl(bus, process.env);
  const missing = "the bus: missing. Expected a broker's address, from --bus, ROCKBOT_BUS or BUS_URL";
  return { url, faults: url === MEMORY_BUS ? [missing] : busUrlFaults(url) };
}

function readCaller(caller: string, { tool = CALLEE_TOOL, bus, ...others }: ConformanceCommandOptions): CalleeOptions {
  const { url, faults } = readUrl(bus);
  const [other] = Object.keys(others);
  const found = [
    ...faults,
    ...(isName(caller) ? [] : [`--caller: ${JSON.stringify(caller)} is not a name of a caller`]),
    ...(/^[\w-]{1,64}$/.test(tool) ? [] : [`--tool: ${JSON.stringify(tool)} is not a name of a tool`]),
    ...(other === undefined
      ? []
      : [`--caller: it is tried with --tool, --command, --bus and --json only, got "${other}" as well`]),
  ];
  if (found.length > 0) throw new UsageError(found);
  return { url, caller, tool };
}

function readOptions({
  topic = "",
  tool = "",
  slowTool,
  slowArguments,
  ...options
}: ConformanceCommandOptions): ConformanceOptions {
  const { url, faults: urlFaults } = readUrl(options.bus);
  const service = options.service ?? topic.split(".").at(-1) ?? "";
  const quick: SafeCall = { tool, arguments: options.arguments ?? "{}" };
  const slow: SafeCall | undefined =
    slowArguments === undefined ? undefined : { tool: slowTool ?? tool, arguments: slowArguments };
  const faults = [
    ...urlFaults,
    ...(tool === "" ? ["--tool: missing"] : []),
    ...(isRequestTopic(topic)
      ? []
      : [`--topic: expected tool.invoke.{service}, such as tool.invoke.my-service, got ${JSON.stringify(topic)}`]),
    ...(isName(service) ? [] : [`--service: ${JSON.stringify(service)} is not a name of a service`]),
    ...(isObject(quick.arguments) ? [] : ["--arguments: expected a JSON object"]),
    ...(slow === undefined || isObject(slow.arguments) ? [] : ["--slow-arguments: expected a JSON object"]),
    ...(slow === undefined && slowTool !== undefined ? ["--slow-arguments: missing. With which is it slow?"] : []),
  ];
  if (faults.length > 0) throw new UsageError(faults);
  return { url, topic, service, quick, slow };
}

/** True if requests of tools come by such a topic. The short ones are those of RockBot's own services. */
const isRequestTopic = (topic: string): boolean =>
  ["tool.invoke", "script.invoke"].includes(topic) ||
  (topic.startsWith("tool.invoke.") && isName(topic.slice("tool.invoke.".length)));

function isObject(text: string): boolean {
  const parsed = parseJson(text);
  return parsed.ok && typeof parsed.value === "object" && parsed.value !== null && !Array.isArray(parsed.value);
}

function print(result: CaseResult, json: boolean): void {
  const { outcome, name, clause, why } = result;
  const contract = clauseText(clause);
  if (json) {
    console.log(JSON.stringify({ ...result, contract }));
    return;
  }
  const lines = [`${outcome.padEnd(9)}  ${clause}: ${name}`];
  if (why !== undefined) lines.push(`           ${why}`);
  if (outcome === "broken") lines.push(`           The contract: ${contract}`);
  console.log(plainText(lines.join("\n")));
}
