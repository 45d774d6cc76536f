import { specTypeSchemas, type Tool } from "@modelcontextprotocol/client";
import { printable } from "@rockbot/contracts";
import { isTooDeep } from "../../text/clean-schema.ts";
import { cleanText } from "../../text/clean-text.ts";
import { INSTRUCTIONS } from "../offered-tools.ts";

const MAX_NAME = 256;
const MAX_SCHEMA_LENGTH = 64 * 1024;
const MAX_ISSUES = 3;
const MAX_SHOWN_NAME = 80;

/** Why a definition of a tool that a server lists is not used, in words; undefined if it is. */
export function definitionFault(definition: unknown): string | undefined {
  if (isTooDeep(definition)) return "it is nested too deeply";
  const issues = issuesOf(definition);
  if (issues.length > 0) return issues.slice(0, MAX_ISSUES).join("; ");
  const { name, inputSchema, outputSchema, execution, _meta } = definition as Tool;
  if (name === "") return "it has no name";
  if (name === INSTRUCTIONS) return "its name stands for the server's instructions";
  if (name.length > MAX_NAME) return `its name has ${name.length} characters, more than ${MAX_NAME}`;
  // It cannot be cleaned, as calls carry it.
  if (cleanText(name, MAX_NAME) !== name) return "its name has invisible characters";
  for (const [field, schema] of Object.entries({ inputSchema, outputSchema }))
    if (JSON.stringify(schema ?? {}).length > MAX_SCHEMA_LENGTH)
      return `${field}: it has more than ${MAX_SCHEMA_LENGTH} characters`;
  if (execution?.taskSupport === "required") return "it runs only as a task, and tasks of MCP are not started here";
  return isForModels(_meta) ? undefined : "it is for apps only";
}

/** The name of a definition for messages, with its unseen characters as escapes. */
export function nameOfDefinition(definition: unknown, place: number): string {
  const { name } = (typeof definition === "object" && definition !== null ? definition : {}) as {
    readonly name?: unknown;
  };
  const shown = typeof name === "string" ? printable(name, MAX_SHOWN_NAME) : "";
  return shown === "" ? `number ${place} of the list` : shown;
}

/** The fault for which the SDK would refuse the definition, and with it the whole list. */
function issuesOf(definition: unknown): readonly string[] {
  const result = specTypeSchemas.Tool["~standard"].validate(definition);
  if (result instanceof Promise || result.issues === undefined) return [];
  return result.issues.map(({ path = [], message }) => {
    const at = path.map((step) => String(typeof step === "object" ? step.key : step)).join(".");
    return cleanText(`${at === "" ? "" : `${at}: `}${message.replace(/^Invalid input: /, "")}`, 200);
  });
}

/**
 * Tells whether a model may be offered the tool. A tool of MCP Apps says whom it is for; one that does not is for
 * models, too.
 * @see SEP-1865: `_meta.ui.visibility`
 */
function isForModels(meta: object | undefined): boolean {
  const { ui, "ui/visibility": flat } = (meta ?? {}) as { readonly ui?: unknown; readonly "ui/visibility"?: unknown };
  const { visibility = flat } = (typeof ui === "object" && ui !== null ? ui : {}) as { readonly visibility?: unknown };
  if (visibility === undefined || visibility === null) return true;
  return (Array.isArray(visibility) ? visibility : [visibility]).includes("model");
}
