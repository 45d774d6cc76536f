import { isRecord } from "@rockbot/base";
import type { Decision } from "@rockbot/policy";
import type { ToolRegistration } from "../../define/tool-registry.ts";

/** What announces values that a model may choose from. The tool takes others, too, so its own schema has no `enum`. */
const KEYWORD = "x-open-enum";
/** Values that a model is shown at most. */
const MAX_VALUES = 100;

type Rules = Decision["argumentRules"];

/**
 * The tool as a model is shown it: the values that were announced for arguments are an `enum`, without those that the policy refuses from this caller.
 * The same tool with the same rules is the same object.
 */
export function withOpenEnums(tool: ToolRegistration, rules: Rules = NO_RULES): ToolRegistration {
  if (!tool.parametersSchema.includes(KEYWORD)) return tool;
  const byRules = advised.get(tool) ?? new WeakMap<Rules, ToolRegistration>();
  advised.set(tool, byRules);
  const known = byRules.get(rules);
  if (known !== undefined) return known;
  const made = Object.freeze({ ...tool, parametersSchema: schemaFor(tool.parametersSchema, rules) });
  byRules.set(rules, made);
  return made;
}

const NO_RULES: Rules = [];
const advised = new WeakMap<ToolRegistration, WeakMap<Rules, ToolRegistration>>();

function schemaFor(text: string, rules: Rules): string {
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch {
    return text; // no JSON promises nothing
  }
  if (!isRecord(schema) || !isRecord(schema["properties"])) return text;
  const properties = Object.entries(schema["properties"]).map(([name, property]): [string, unknown] => {
    if (!isRecord(property)) return [name, property];
    const own = withEnum(property, (value) => isTaken(name, value, rules));
    const items = isRecord(own["items"]) ? { items: withEnum(own["items"], (value) => isTaken(name, [value], rules)) } : {};
    return [name, { ...own, ...items }];
  });
  return JSON.stringify({ ...schema, properties: Object.fromEntries(properties) });
}

function withEnum({ [KEYWORD]: announced, ...schema }: Readonly<Record<string, unknown>>, isAllowed: (value: string) => boolean): Record<string, unknown> {
  if (!Array.isArray(announced) || "enum" in schema) return schema;
  const values = announced.slice(0, MAX_VALUES).filter((value): value is string => typeof value === "string" && isAllowed(value));
  if (values.length === 0) return schema;
  const takesNull = Array.isArray(schema["type"]) && schema["type"].includes("null");
  return { ...schema, enum: takesNull ? [...values, null] : values };
}

/** Whether no rule says of this argument that it may not be so. What a rule says of others does not count: they are not known yet. */
const isTaken = (name: string, value: unknown, rules: Rules): boolean =>
  rules.every(({ validate }) => validate({ [name]: value }) || !(validate.errors ?? []).some(({ instancePath }) => isAt(instancePath, name)));

const isAt = (path: string, name: string): boolean => {
  const at = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return path === at || path.startsWith(`${at}/`);
};
