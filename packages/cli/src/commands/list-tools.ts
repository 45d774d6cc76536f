import { namesHelp } from "@rockbot/contracts";
import { findGlob } from "@rockbot/policy";
import type { ListedTool } from "@rockbot/tools";
import { busUrlFaults, chooseBusUrl } from "../bus-url.ts";
import { openToolClient } from "../client/open-tool-client.ts";
import type { ToolClient } from "../client/tool-client.ts";
import { CommandError } from "../command-error.ts";
import { offLines } from "../runtime/off-tools.ts";
import { plainText } from "../terminal/plain-text.ts";
import { printTable } from "../terminal/print-table.ts";
import { wrapLine } from "../terminal/wrap-line.ts";
import { UsageError } from "../usage-error.ts";

export interface ListToolsOptions {
  readonly bus?: string;
  readonly json?: boolean;
  readonly mcpConfig?: string;
  readonly policy?: string;
}

/** `rockbot tools`: what can be called now, a line each. `rockbot tools NAME`: one of them in full. */
export async function listTools(
  name: string | undefined,
  { bus, json = false, mcpConfig, policy }: ListToolsOptions,
): Promise<void> {
  const faults = busUrlFaults(chooseBusUrl(bus, process.env));
  if (faults.length > 0) throw new UsageError(faults);
  await using client = await openToolClient({ bus, allowAddress: [], mcpConfig, policy, env: process.env });
  const tools = await client.listTools();
  const missing = await client.listMissing();
  const late = missing.filter(({ fault }) => fault === undefined).map(({ service }) => service);
  if (late.length > 0)
    console.error(
      `The list is not complete: what ${late.join(", ")} offers has not come yet. Try again in a few seconds`,
    );
  for (const { service, fault } of missing)
    if (fault !== undefined)
      console.error(plainText(`The list is not complete: the list of service ${service} cannot be used: ${fault}`));
  const one = name === undefined ? undefined : await find(client, tools, name);
  if (json) console.log(JSON.stringify(one ?? tools, undefined, 2));
  else if (one !== undefined) show(one);
  else {
    const off = await client.listOff().catch(() => undefined);
    printTable(
      [{ title: "tool" }, { title: "what it does", least: 20 }],
      tools.map((tool) => [tool.name, firstSentence(tool.description)]),
    );
    if (off === undefined)
      console.error(`Which tools are off is not known: ${client.where} does not say it. Is it of another version?`);
    for (const words of offLines(off ?? [])) console.error(wrapLine(line(words), process.stderr, { indent: 10 }));
    console.error(
      `${tools.length} tools, run by ${client.where}. Read more of one: rockbot tools NAME. Call one: rockbot call NAME argument=value`,
    );
  }
}

/** @throws {CommandError} if the tool is off; {UsageError} if there is none of that name */
async function find(client: ToolClient, tools: readonly ListedTool[], name: string): Promise<ListedTool> {
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  const off = (await client.listOff().catch(() => [])).find(({ tool }) => findGlob([tool], name) !== undefined);
  if (off !== undefined) throw new CommandError(`${name} is off. ${off.reason}`);
  const help = namesHelp(
    name,
    tools.map((tool) => tool.name),
  );
  throw new UsageError([`there is no tool ${JSON.stringify(name)}. ${help}`]);
}

interface Parameters {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown; readonly description?: string }>>;
  readonly required?: readonly string[];
}

/** Whose a tool is, all of its description, and its arguments. */
function show({ name, source, readOnly, description, parameters }: ListedTool): void {
  const { properties = {}, required = [] } = parameters as Parameters;
  const args = Object.entries(properties).map(([arg, { type = "any", description = "" }]) => {
    const types = [type].flat().join(" or ");
    return [line(arg), line(required.includes(arg) ? `${types}, required` : types), line(description)] as const;
  });
  const [names, types] = ([0, 1] as const).map((column) =>
    Math.max(0, ...args.map((cells) => cells[column].length)),
  ) as [number, number];
  console.log(plainText(`${name}, run by ${source}${readOnly ? ". It changes nothing" : ""}\n\n${description.trim()}`));
  if (args.length > 0) console.log("\nArguments:");
  for (const [arg, type, words] of args)
    console.log(`  ${arg.padEnd(names)}  ${type.padEnd(types)}  ${words}`.trimEnd());
}

const line = (text: string): string => plainText(text).replaceAll(/[\n\t]/g, " ");

const firstSentence = (text: string): string => /^[^\n]*?\.(?=\s|$)/.exec(text)?.[0] ?? text.split("\n", 1)[0] ?? "";
