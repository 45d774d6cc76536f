import { isRecord } from "@rockbot/base";

/** Where structured content that is no object lies in `structured`, which is one on the bus. */
export const VALUE = "$value";
const OURS = "urn:rockbot:value:";

/**
 * An output schema of an MCP tool as it holds for `structured` on the bus.
 * @param toolName makes the id by which references of the schema still point into it
 */
export function busOutput(schema: object, toolName: string): object {
  const { $schema, ...rest } = schema as { readonly $schema?: unknown; readonly type?: unknown };
  const { type } = rest;
  if (type === "object") return schema;
  const head = { ...($schema === undefined ? {} : { $schema }), type: "object" };
  const hasReferences = JSON.stringify(rest).includes('"$ref":"#');
  const value = hasReferences ? { $id: `${OURS}${toolName}`, ...rest } : rest;
  const wrapped = { required: [VALUE], properties: { [VALUE]: value } };
  const mayBeObject = type === undefined || (Array.isArray(type) && type.includes("object"));
  if (!mayBeObject) return { ...head, ...wrapped };
  return { ...head, anyOf: [wrapped, "$id" in value ? { $ref: value.$id } : value] };
}

/** The way back: the schema as the MCP tool has it. */
export function mcpOutput(output: object): object {
  const { $schema, anyOf } = output as { readonly $schema?: unknown; readonly anyOf?: unknown };
  const wrapped: unknown = Array.isArray(anyOf) ? anyOf[0] : output;
  const properties = isRecord(wrapped) && isRecord(wrapped["properties"]) ? wrapped["properties"] : {};
  const value = properties[VALUE];
  if (!isRecord(value) || Object.keys(properties).length !== 1) return output;
  const { $id, ...schema } = value;
  const isOurs = String($id).startsWith(OURS);
  return { ...($schema === undefined ? {} : { $schema }), ...(isOurs ? schema : value) };
}
