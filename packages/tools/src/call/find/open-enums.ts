import { isRecord } from "@rockbot/base";
import type { Decision } from "@rockbot/policy";
import type { ToolRegistration } from "../../define/tool-registry.ts";

/**
 * Announces values that an argument may have, besides others: a model gets them in words, as an `enum` would exclude
 * the others.
 */
const OPEN = "x-open-enum";
/**
 * What announces the only values that are right now: an `enum`, if a model is shown all of them. The tool says by
 * itself what is wrong with others.
 */
const CLOSED = "x-enum-now";
/** Values that a model is shown at most. */
const MAX_VALUES = 100;

type Rules = Decision["argumentRules"];

/**
 * The tool as a model is shown it: with the values that were announced for arguments, without those that the policy
 * refuses from this caller. The same tool with the same rules is the same object.
 */
export function withOpenEnums(tool: ToolRegistration, rules: Rules = NO_RULES): ToolRegistration {
  if (!tool.parametersSchema.includes(OPEN) && !tool.parametersSchema.includes(CLOSED)) return tool;
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
    const own = withValues(property, (value) => isTaken(name, value, rules));
    const { told, schema: items } = isRecord(property["items"])
      ? withValues(property["items"], (value) => isTaken(name, [value], rules))
      : own;
    const description = [own.schema["description"], told].filter((text) => typeof text === "string").join(" ");
    return [
      name,
      { ...own.schema, ...(items === own.schema ? {} : { items }), ...(told === undefined ? {} : { description }) },
    ];
  });
  return JSON.stringify({ ...schema, properties: Object.fromEntries(properties) });
}

interface Shown {
  readonly schema: Readonly<Record<string, unknown>>;
  /** The values in words, where they are no `enum`. */
  readonly told?: string | undefined;
}

function withValues(
  { [OPEN]: open, [CLOSED]: closed, ...schema }: Readonly<Record<string, unknown>>,
  isAllowed: (value: string) => boolean,
): Shown {
  const announced = closed ?? open;
  if (!Array.isArray(announced) || "enum" in schema) return { schema };
  const values = announced.filter((value): value is string => typeof value === "string" && isAllowed(value));
  if (values.length === 0) return { schema };
  if (closed === undefined || values.length > MAX_VALUES)
    return { schema, told: inWords(values, closed === undefined) };
  const takesNull = Array.isArray(schema["type"]) && schema["type"].includes("null");
  return { schema: { ...schema, enum: takesNull ? [...values, null] : values } };
}

function inWords(values: readonly string[], takesOthers: boolean): string {
  const more = values.length > MAX_VALUES ? ` and ${values.length - MAX_VALUES} more` : "";
  return `There are: ${values.slice(0, MAX_VALUES).join(", ")}${more}.${takesOthers ? " Others are taken, too." : ""}`;
}

/**
 * True if no rule forbids the argument this value. What a rule says of others does not count: they are not known yet.
 */
const isTaken = (name: string, value: unknown, rules: Rules): boolean =>
  rules.every(
    ({ validate }) =>
      validate({ [name]: value }) || !(validate.errors ?? []).some(({ instancePath }) => isAt(instancePath, name)),
  );

const isAt = (path: string, name: string): boolean => {
  const at = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return path === at || path.startsWith(`${at}/`);
};
