import type { Tool } from "@modelcontextprotocol/server";
import { isRecord } from "@rockbot/base";
import { mcpOutput } from "../schema/bus-output.ts";
import { Meta } from "./meta.ts";
import type { OfferedTool } from "./tool-source.ts";

/** A tool as `tools/list` shows it. Names need no mapping: those of the bus are a part of what MCP allows. */
export function toListedTool(tool: OfferedTool): Tool {
  const known = listed.get(tool);
  if (known !== undefined) return known;
  const { name, title, description, parameters, readOnly, idempotent, trust } = tool;
  const output = advertisedOutput(tool);
  const listing: Tool = {
    name,
    ...(title === undefined ? {} : { title }),
    description,
    // The protocol's arguments are an object, whether or not the schema says so. Some clients refuse one that names no
    // properties.
    inputSchema: { properties: {}, ...listable({ ...parameters, type: "object" }) } as Tool["inputSchema"],
    ...(output === undefined ? {} : { outputSchema: output }),
    annotations: { readOnlyHint: readOnly, idempotentHint: readOnly || idempotent },
    ...(trust == null ? {} : { _meta: { [Meta.Trust]: trust } }),
  };
  listed.set(tool, listing);
  return listing;
}

/**
 * A client refuses a result without structured content if the tool has an output schema: one for any object promises
 * none.
 */
export function advertisedOutput({ output }: OfferedTool): NonNullable<Tool["outputSchema"]> | undefined {
  const { type, properties, ...rest } = (output ?? {}) as {
    readonly type?: unknown;
    readonly properties?: object | null;
  };
  const isAnyObject =
    type === "object" && Object.keys(properties ?? {}).length === 0 && Object.keys(rest).every((key) => VAGUE.has(key));
  return isAnyObject || output === undefined
    ? undefined
    : listable(mcpOutput(output) as Readonly<Record<string, unknown>>);
}

/**
 * The schema in the form that every client takes. Clients refuse the whole list for one schema whose keywords at the
 * top have other types.
 */
function listable({
  $schema,
  properties,
  required,
  ...others
}: Readonly<Record<string, unknown>>): Tool["inputSchema"] {
  const named = isRecord(properties)
    ? Object.entries(properties).map(([name, schema]) => [
        name,
        isRecord(schema) ? schema : schema === false ? { not: {} } : {},
      ])
    : undefined;
  return {
    ...(typeof $schema === "string" ? { $schema } : {}),
    ...others,
    ...(named === undefined ? {} : { properties: Object.fromEntries(named) }),
    ...(Array.isArray(required) ? { required: required.filter((name) => typeof name === "string") } : {}),
  } as Tool["inputSchema"];
}

/** Keywords of a schema for any object. */
const VAGUE: ReadonlySet<string> = new Set(["$schema", "title", "description", "additionalProperties"]);

/** True if a client may have to send some of the tool's arguments as headers, too. */
export function namesHeaders(tool: OfferedTool): boolean {
  const isNaming = naming.get(tool) ?? JSON.stringify(tool.parameters).includes('"x-mcp-header"');
  naming.set(tool, isNaming);
  return isNaming;
}

const naming = new WeakMap<OfferedTool, boolean>();

/** The objects of a source that has not changed are the same. */
const listed = new WeakMap<OfferedTool, Tool>();
