import type { InnerCalls, TurnTool } from "@rockbot/agent/plugin";
import { isRecord } from "@rockbot/base";
import {
  describeFaults,
  parseArguments,
  ToolError,
  ToolErrorCode,
  type ToolSpawnWispsInput,
  tools,
} from "@rockbot/contracts";
import { MAX_WISP_CALLS, type Wisp } from "../pipeline/wisp.ts";
import { readWisp } from "./read-wisp.ts";

/** An error names so many faults. */
const MAX_FAULTS = 20;

export interface ReadDefinitionsOptions {
  /** The tools that the session may use now. */
  readonly tools: readonly TurnTool[];
  /** Why it may not use another that its caller may, in words. @default there is no such tool */
  readonly refusal?: ((name: string) => string | undefined) | undefined;
  /** JSON Schema of what `/input` leads into. @default there is no input */
  readonly input?: object | undefined;
}

/** What a pipeline may use that makes these calls. */
export const availableTo = (calls: Pick<InnerCalls, "tools" | "refusal">): ReadDefinitionsOptions => ({
  tools: calls.tools,
  refusal: calls.refusal,
});

/**
 * Reads the arguments of spawn_wisps: a list of pipelines, also a single one, and also as texts of JSON, as models give
 * them.
 * @throws {ToolError} with all that is wrong with them, before anything runs
 */
export function readDefinitions(
  input: Readonly<Record<string, unknown>>,
  options: ReadDefinitionsOptions,
): readonly Wisp[] {
  const given = { ...input, ...("definitions" in input ? { definitions: listOf(input["definitions"]) } : {}) };
  const { wisps, faults } = checkDefinitions(given, options);
  if (faults.length > 0) throw faulty("No wisp was run", faults);
  return wisps;
}

/** Reads a pipeline that is to be kept, or is kept. */
export function checkDefinition(
  definition: unknown,
  options: ReadDefinitionsOptions,
): { readonly wisp: Wisp | undefined; readonly faults: readonly string[] } {
  const { wisps, faults } = checkDefinitions({ definitions: [parsed(definition)] }, options);
  return { wisp: wisps[0], faults: faults.map((fault) => fault.replace(/^definitions(?:\/0)?/, "definition")) };
}

function checkDefinitions(
  given: Readonly<Record<string, unknown>>,
  options: ReadDefinitionsOptions,
): { readonly wisps: readonly Wisp[]; readonly faults: readonly string[] } {
  const { validateInput, inputSchema } = tools.spawnWisps;
  const shapeFaults = validateInput(given) ? [] : describeFaults(validateInput, inputSchema, given);
  const isWhole = (index: number): boolean =>
    !shapeFaults.some(({ path }) => path === "/definitions" || `${path}/`.startsWith(`/definitions/${index}/`));
  const { definitions } = given;
  const written = Array.isArray(definitions) ? (definitions as ToolSpawnWispsInput["definitions"]) : [];
  const read = written.flatMap((definition, index) =>
    isWhole(index) ? [readWisp(definition, { ...options, place: `definitions/${index}` })] : [],
  );
  const faults = [
    ...shapeFaults.map(({ path, message }) => (path === "" ? message : `${path.slice(1)}: ${message}`)),
    ...read.flatMap((each) => each.faults),
  ];
  const calls = read.reduce((sum, each) => sum + each.calls, 0);
  if (calls > MAX_WISP_CALLS)
    faults.push(
      `definitions: lead to ${calls} calls at most, by their steps and the max of each for_each, and ${MAX_WISP_CALLS} may be. Make max smaller, or call twice`,
    );
  return { wisps: read.map(({ wisp }) => wisp), faults };
}

/** An error that names each fault. */
export function faulty(what: string, faults: readonly string[]): ToolError {
  const shown = faults.slice(0, MAX_FAULTS).map((fault) => fault.slice(0, 500));
  const more = faults.length > shown.length ? `; and ${faults.length - shown.length} more` : "";
  const count = `${faults.length} ${faults.length === 1 ? "thing is" : "things are"} wrong`;
  return new ToolError(ToolErrorCode.InvalidArguments, `${what}: ${count}. ${shown.join("; ")}${more}`, {
    details: { faults: shown },
  });
}

function listOf(given: unknown): unknown {
  const value = parsed(given);
  if (isRecord(value)) return [value];
  return Array.isArray(value) ? value.map(parsed) : value;
}

function parsed(given: unknown): unknown {
  if (typeof given !== "string") return given;
  const read = parseArguments(given);
  return read.ok ? read.value : given;
}
