/** What a file in `packages/contracts/schema` holds. */
export interface SchemaDocument {
  definitions: Record<string, JsonSchema>;
}

/** Draft-07, with our own keywords: see the comment on top of messages.yaml. */
export interface JsonSchema {
  [keyword: string]: unknown;
  title?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  "x-message"?: MessageInfo;
}

export interface MessageInfo {
  /** Value of the AMQP property `type`. */
  type: string;
  topics: string[];
  /** Names of the messages that answer this one. */
  reply?: string[];
  /** Descriptions of the headers it may have, by their names on the wire. */
  headers?: Record<string, string>;
}

/** The `Tool{Name}` definitions: those with an input and an output. */
export function toolDefinitions(definitions: SchemaDocument["definitions"]): [name: string, schema: JsonSchema][] {
  return Object.entries(definitions)
    .filter(([, schema]) => schema.properties?.["input"] !== undefined && schema.properties?.["output"] !== undefined)
    .sort(([, a], [, b]) => (String(a.title) < String(b.title) ? -1 : 1));
}

export function messageDefinitions(
  definitions: SchemaDocument["definitions"],
): [name: string, info: MessageInfo, schema: JsonSchema][] {
  return Object.entries(definitions).flatMap(([name, schema]) =>
    schema["x-message"] ? [[name, schema["x-message"], schema]] : [],
  );
}

/** The schema with every local reference replaced by what it names and our own keywords removed. */
export function inlined(schema: unknown, definitions: SchemaDocument["definitions"]): JsonSchema {
  return JSON.parse(
    JSON.stringify(resolved(schema, definitions), (key, value: unknown) => (key.startsWith("x-") ? undefined : value)),
  ) as JsonSchema;
}

/** The schema with every local reference replaced by what it names. */
export function resolved(schema: unknown, definitions: SchemaDocument["definitions"]): JsonSchema {
  return JSON.parse(
    JSON.stringify(schema, (_, value: unknown) => {
      const name = referenceIn(value);
      return name === undefined ? value : resolved(definitions[name], definitions);
    }),
  ) as JsonSchema;
}

function referenceIn(value: unknown): string | undefined {
  const reference = (value as { $ref?: unknown } | null)?.$ref;
  if (typeof reference !== "string") return undefined;
  return reference.replace("#/definitions/", "");
}
