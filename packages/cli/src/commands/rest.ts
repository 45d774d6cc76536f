import { counted, printable, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { ConfigError } from "@rockbot/process/config";
import { checkDocuments, readRestFile, tryRestTool } from "@rockbot/rest-tools";
import { serviceNamed } from "@rockbot/services";
import { CommandError } from "../command-error.ts";
import { interruption } from "../terminal/interruption.ts";
import { plainText } from "../terminal/plain-text.ts";
import { UsageError } from "../usage-error.ts";

export interface RestOptions {
  readonly file?: string;
  readonly allowAddress?: readonly string[];
}

const MAX_SHOWN = 20;

/** `rockbot rest check`: what is wrong with a file of REST tools, or which tools it makes. */
export async function checkRestFile(file: string, { allowAddress = [] }: RestOptions): Promise<void> {
  using interrupted = interruption();
  const { env } = process;
  const config = await settings(file, allowAddress);
  const { operations, imports, off } = readRestFile(file, env);
  const documents = await checkDocuments({ config, env, signal: interrupted.signal });
  for (const { toolName } of operations) console.log(plainText(toolName));
  for (const { name, tools, leftOut, concerns, fault } of documents) {
    for (const tool of tools) console.log(plainText(tool));
    if (fault !== undefined)
      console.error(`rockbot: the OpenAPI document "${name}" cannot be read: ${printable(fault)}`);
    for (const { id, why } of leftOut.slice(0, MAX_SHOWN))
      console.error(`rockbot: "${name}": ${printable(id)} is left out: ${printable(why)}`);
    if (leftOut.length > MAX_SHOWN)
      console.error(`rockbot: "${name}": ${leftOut.length - MAX_SHOWN} more are left out`);
    for (const concern of concerns) console.error(`rockbot: "${name}" has to be approved: it ${printable(concern)}`);
  }
  for (const { tool, reason } of off) console.error(plainText(`rockbot: ${tool} is off: ${reason}`));
  const count = documents.reduce((sum, { tools }) => sum + tools.length, operations.length);
  console.error(
    plainText(
      `${file} can be used: ${counted(count, "tool")}, of ${counted(operations.length, "endpoint")} and ${counted(imports.length, "OpenAPI document")}`,
    ),
  );
  if (documents.some(({ fault }) => fault !== undefined))
    throw new CommandError("Not every OpenAPI document could be read");
}

/** `rockbot rest try`: calls one tool of a file from here, to see what comes. */
export async function tryRest(
  name: string,
  json: string | undefined,
  { file = process.env["REST_CONFIG"] || undefined, allowAddress = [] }: RestOptions,
): Promise<void> {
  if (file === undefined) throw new UsageError(["Name the file of REST tools by --file or REST_CONFIG"]);
  using interrupted = interruption();
  const args = argumentsOf(json);
  const onProgress = (message: string): void => console.error(printable(message, MAX_LINE));
  try {
    const config = await settings(file, allowAddress);
    const { content } = await tryRestTool(name, args, {
      config,
      env: process.env,
      signal: interrupted.signal,
      onProgress,
    });
    console.log(plainText(content ?? ""));
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const isUsage = error.code === ToolErrorCode.ToolNotFound || error.code === ToolErrorCode.InvalidArguments;
    throw isUsage ? new UsageError([error.message]) : new CommandError(`${error.message} (${error.code})`);
  }
}

const MAX_LINE = 400;

/** The service's settings from the environment, as it would have them. @throws {ConfigError} */
async function settings(restConfig: string, allowAddresses: readonly string[]) {
  const load = await serviceNamed("rest-tools").loader();
  const overrides = { restConfig, ...(allowAddresses.length === 0 ? {} : { allowAddresses }) };
  return { ...load({ env: { ...process.env, CONFIG_FILE: undefined }, overrides }), restConfig };
}

function argumentsOf(json: string | undefined): Readonly<Record<string, unknown>> {
  if (json === undefined) return {};
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>;
  } catch {}
  throw new ConfigError(['expected a JSON object, such as \'{"city":"Rome"}\''], "the arguments");
}
