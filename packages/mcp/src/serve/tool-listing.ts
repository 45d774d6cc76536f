import type { Tool } from "@modelcontextprotocol/server";
import type { OfferedTool } from "./tool-source.ts";

/** A tool as `tools/list` shows it. Names need no mapping: those of the bus are a part of what MCP allows. */
export function toListedTool(tool: OfferedTool): Tool {
  const known = listed.get(tool);
  if (known !== undefined) return known;
  const { name, description, parameters, output, readOnly, idempotent } = tool;
  const listing: Tool = {
    name,
    description,
    inputSchema: { ...parameters, type: "object" }, // the protocol's arguments are an object, whether or not the schema says so
    ...(output === undefined ? {} : { outputSchema: output as NonNullable<Tool["outputSchema"]> }),
    annotations: { readOnlyHint: readOnly, idempotentHint: readOnly || idempotent },
  };
  listed.set(tool, listing);
  return listing;
}

/** The objects of a source that has not changed are the same. */
const listed = new WeakMap<OfferedTool, Tool>();
