import { type InnerCalls, recordTaint, SessionRights, trustIn } from "@rockbot/agent/plugin";
import {
  describeFaults,
  faultsText,
  type ToolDefinition,
  ToolError,
  ToolErrorCode,
  type Validator,
} from "@rockbot/contracts";
import { type PolicyHolder, schemaCompiler } from "@rockbot/policy";
import { defineTool, type Tool } from "@rockbot/tools";
import { type KeptWisp, wispToolOf } from "../pipeline/kept-wisp.ts";
import { asText } from "../pipeline/template.ts";
import { availableTo, checkDefinition, faulty } from "../read/read-definitions.ts";
import { runWisps, type WispParts } from "../run/run-wisps.ts";
import type { WispContext } from "../run/step-run.ts";
import { failureText, partsOf, reportValue } from "../run/wisp-report.ts";
import type { SavedWisps } from "./saved-wisps.ts";

/** What saved wisps of a session run with. */
export interface SavedWispParts extends WispParts {
  readonly caller: string;
  readonly saved: SavedWisps;
  readonly policy: PolicyHolder | undefined;
}

/** For one that takes no arguments, and for one whose schema strangers may have written. */
const NO_INPUT = { type: "object", additionalProperties: false, properties: {} };
const ANY_INPUT = { type: "object", additionalProperties: true };

const anyArguments: Validator<Readonly<Record<string, unknown>>> = (
  value,
): value is Readonly<Record<string, unknown>> => typeof value === "object";

/** A saved wisp as a tool. It reaches what its maker may use now, and the present session. */
export function savedWispTool(wisp: KeptWisp, parts: SavedWispParts): Tool {
  const { name } = wisp;
  return defineTool(toolDefinitionOf(wisp), async (input, context) => {
    const now = await current(wisp, parts);
    const { inputSchema, definition } = now;
    const fault = await inputFault(inputSchema ?? NO_INPUT, input);
    if (fault !== undefined)
      throw new ToolError(ToolErrorCode.InvalidArguments, `Cannot call "${wispToolOf(name)}": ${fault}`);
    const calls = callsOf({ ...wisp, tools: definition.tools }, parts);
    const checked = checkDefinition(definition, { ...availableTo(calls), input: inputSchema ?? NO_INPUT });
    if (checked.wisp === undefined || checked.faults.length > 0)
      throw faulty(`The saved wisp "${name}" was not run`, checked.faults);
    const taint = recordTaint("wisp", now);
    const untrustedFrom = taint.isUntrusted ? taint.origin : undefined;
    const done = await runWisps([checked.wisp], context as WispContext, { ...parts, calls, input, untrustedFrom });
    const [run] = done.runs;
    if (run === undefined) throw new TypeError("One wisp has one run");
    const { end } = run;
    const content = end.ok ? [asText(end.result), ...partsOf(run)].join("\n") : failureText(run, done);
    return { content, structured: reportValue(run), isError: !end.ok, trust: trustIn(done) };
  });
}

/**
 * The calls of a session, as far as the maker of a wisp may make them, too. One of another caller's calls no agents:
 * their sessions are the present caller's.
 */
export function callsOf(
  {
    name,
    maker,
    tools = ["*"],
    grant,
  }: Pick<KeptWisp, "name" | "maker" | "grant"> & { readonly tools?: readonly string[] | undefined },
  { calls, caller, policy }: Pick<SavedWispParts, "calls" | "caller" | "policy">,
): InnerCalls {
  const rights = new SessionRights({ definition: { name, tools, maker, grant }, kind: "wisp", policy });
  return calls.narrowed(rights, { hasAgents: maker === caller });
}

/** @throws {ToolError} if it is not any more what the turn was shown */
async function current({ name, hash }: KeptWisp, { caller, saved }: SavedWispParts): Promise<KeptWisp> {
  const found = (await saved.visibleTo(caller)).find((wisp) => wisp.name === name);
  if (found?.hash === hash) return found;
  const why =
    found === undefined
      ? "it is not yours to use any more"
      : "it was changed since this turn began. Your next turn has it as it is now";
  throw new ToolError(ToolErrorCode.Denied, `"${wispToolOf(name)}" was not called: ${why}.`, {
    details: { reason: "definition", mayHaveRun: false },
  });
}

async function inputFault(schema: object, input: unknown): Promise<string | undefined> {
  const compile = await schemaCompiler();
  let validate: Validator<unknown>;
  try {
    validate = compile(schema);
  } catch (error) {
    return `its schema cannot be used: ${error instanceof Error ? error.message.slice(0, 300) : String(error)}`;
  }
  return validate(input) ? undefined : faultsText(describeFaults(validate, schema, input));
}

/** What strangers may have written stands in no list of tools. */
function toolDefinitionOf({
  name,
  definition,
  inputSchema,
  isUntrusted,
}: KeptWisp): ToolDefinition<Readonly<Record<string, unknown>>, object> {
  const description = isUntrusted
    ? "What it does is not shown, as it was saved after untrusted content was read. get_wisp reads it, and its schema."
    : definition.description;
  return {
    name: wispToolOf(name),
    description: `Run the saved wisp "${name}". ${description}`,
    inputSchema: isUntrusted ? ANY_INPUT : (inputSchema ?? NO_INPUT),
    readOnly: false,
    idempotent: false,
    validateInput: anyArguments,
  };
}
