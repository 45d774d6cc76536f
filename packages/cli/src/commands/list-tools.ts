import { busUrlFaults, chooseBusUrl } from "../bus-url.ts";
import { offLines } from "../client/off-tools.ts";
import { openToolClient } from "../client/open-tool-client.ts";
import { plainText } from "../terminal/plain-text.ts";
import { UsageError } from "../usage-error.ts";

export interface ListToolsOptions {
  readonly bus?: string;
  readonly json?: boolean;
  readonly mcpConfig?: string;
  readonly policy?: string;
}

/** `rockbot tools`: what can be called now. */
export async function listTools({ bus, json = false, mcpConfig, policy }: ListToolsOptions): Promise<void> {
  const faults = busUrlFaults(chooseBusUrl(bus, process.env));
  if (faults.length > 0) throw new UsageError(faults);
  await using client = await openToolClient({ bus, allowAddress: [], mcpConfig, policy, env: process.env });
  const tools = await client.listTools();
  const missing = await client.listMissing();
  const late = missing.filter(({ fault }) => fault === undefined).map(({ service }) => service);
  if (late.length > 0) console.error(`The list is not complete: what ${late.join(", ")} offers has not come yet. Try again in a few seconds`);
  for (const { service, fault } of missing)
    if (fault !== undefined) console.error(plainText(`The list is not complete: the list of service ${service} cannot be used: ${fault}`));
  if (json) {
    console.log(JSON.stringify(tools, undefined, 2));
    return;
  }
  const off = offLines(await client.listOff());
  const width = Math.max(0, ...tools.map(({ name, parameters }) => usage(name, parameters).length));
  for (const { name, description, parameters } of tools) console.log(plainText(`${usage(name, parameters).padEnd(width)}  ${firstSentence(description)}`));
  for (const line of off) console.error(plainText(line));
  console.error(`${tools.length} tools, run by ${client.where}. Call one: rockbot call NAME '{"argument":"value"}'`);
}

/** The name with its arguments, optional ones marked: `web_search(query, count?)`. */
function usage(name: string, parameters: { readonly properties?: object; readonly required?: readonly string[] }): string {
  const args = Object.keys(parameters.properties ?? {}).map((arg) => (parameters.required?.includes(arg) ? arg : `${arg}?`));
  return `${name}(${args.join(", ")})`;
}

const firstSentence = (text: string): string => /^[^\n]*?\.(?=\s|$)/.exec(text)?.[0] ?? text.split("\n", 1)[0] ?? "";
