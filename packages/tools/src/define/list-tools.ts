import { type ContentTrust, parseJson } from "@rockbot/contracts";
import type { ToolRegistration } from "./tool-registry.ts";

/** A tool as clients see it, such as in `GET /v1/tools`. */
export interface ListedTool {
  readonly name: string;
  /** The title for people. */
  readonly title?: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: object;
  /** JSON Schema of `structured` in the answer. */
  readonly output?: object;
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  /** The service that runs it, or `local`. */
  readonly source: string;
  /** Whose words the rest is. @default our own */
  readonly trust?: NonNullable<ContentTrust>;
}

/** The list for clients. The same tools in the same order give the same bytes. */
export function listTools(registrations: readonly ToolRegistration[]): ListedTool[] {
  return registrations.map((registration) => {
    const tool = listed.get(registration) ?? listedTool(registration);
    listed.set(registration, tool);
    return tool;
  });
}

/** A registration never changes, so its schemas are read once, however often the tools are listed. */
const listed = new WeakMap<ToolRegistration, ListedTool>();

function listedTool({
  name,
  title,
  description,
  parametersSchema,
  outputSchema,
  readOnly,
  idempotent,
  source,
  trust,
}: ToolRegistration): ListedTool {
  return {
    name,
    ...(title === undefined ? {} : { title }),
    description,
    parameters: schemaOf(parametersSchema),
    ...(outputSchema === undefined ? {} : { output: schemaOf(outputSchema) }),
    readOnly,
    idempotent,
    source,
    ...(trust == null ? {} : { trust }),
  };
}

/** A schema that is not JSON object promises nothing: anything goes. */
function schemaOf(text: string): object {
  const parsed = parseJson(text);
  return parsed.ok && typeof parsed.value === "object" && parsed.value !== null && !Array.isArray(parsed.value)
    ? parsed.value
    : {};
}
