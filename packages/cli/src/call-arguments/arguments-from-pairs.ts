import { nearestName, parseArguments } from "@rockbot/contracts";
import type { ArgumentPair } from "./read-pairs.ts";
import { propertiesOf, resolved, type Schema } from "./schema.ts";
import { typedValue } from "./typed-value.ts";

/**
 * The arguments of a tool from `key=value` words, typed by the tool's schema; without one every text stays text. A
 * dotted key names a property of an object, unless the schema has a property of that very name. All faults go to
 * `faults`.
 */
export function argumentsFromPairs(
  pairs: readonly ArgumentPair[],
  schema: Schema | undefined,
  faults: string[],
): object {
  const args: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  const byKey = Map.groupBy(pairs, ({ key }) => key);
  for (const [key, given] of byKey) {
    const path = pathOf(key, schema);
    const found = schemaAt(path, schema);
    if (found === undefined) {
      faults.push(unknownKey(key, schema ?? {}));
      continue;
    }
    if (given.some(({ given }) => given === undefined)) continue; // its fault is told already
    const raw = given.flatMap(({ given }) => (given !== undefined && "json" in given ? [given.json] : []));
    const texts = given.flatMap(({ given }) => (given !== undefined && "text" in given ? [given.text] : []));
    if (raw.length > 0 && given.length > 1)
      faults.push(
        `${key}: is given ${given.length} times. Beside key:=JSON nothing else can be given for the same key`,
      );
    else {
      const typed = raw.length > 0 ? { value: raw[0] } : valueFor(key, texts, { found, schema });
      const fault = "fault" in typed ? typed.fault : unfitFault(key, path, typed.value);
      if (fault !== undefined) faults.push(fault);
      else if ("value" in typed) put(args, path, typed.value, faults);
    }
  }
  for (const name of schema === undefined ? [] : requiredOf(schema)) {
    if (!pairs.some(({ key }) => key === name || key.startsWith(`${name}.`)))
      faults.push(`${name}: is required and missing`);
  }
  return { ...args };
}

function valueFor(
  key: string,
  texts: readonly string[],
  { found, schema }: { readonly found: Schema; readonly schema: Schema | undefined },
) {
  if (schema !== undefined) return typedValue(key, texts, { schema: found, root: schema });
  return texts.length === 1 ? { value: texts[0] } : { value: texts };
}

function pathOf(key: string, schema: Schema | undefined): readonly string[] {
  return schema !== undefined && Object.hasOwn(propertiesOf(schema, schema), key) ? [key] : key.split(".");
}

/** The schema of a property; of one that is not named but allowed, one that says nothing. */
function schemaAt(path: readonly string[], root: Schema | undefined): Schema | undefined {
  if (root === undefined) return {};
  let schema: Schema = root;
  for (const name of path) {
    const properties = propertiesOf(schema, root);
    const named = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const others = resolved(schema, root).map(({ additionalProperties }) => additionalProperties);
    if (named === undefined && others.includes(false)) return undefined;
    const other = others.find((value) => typeof value === "object" && value !== null) as Schema | undefined;
    schema = named ?? other ?? {};
  }
  return schema;
}

function unknownKey(key: string, schema: Schema): string {
  const known = Object.keys(propertiesOf(schema, schema));
  const nearest = nearestName(key, known);
  return `${key}: the tool takes no such argument. ${nearest === undefined ? `It takes: ${known.join(", ") || "none"}` : `Did you mean "${nearest}"?`}`;
}

const requiredOf = (schema: Schema): readonly string[] =>
  Array.isArray(schema["required"]) ? (schema["required"] as string[]) : [];

/** The fault that the same argument would have in JSON: a key that leads to a prototype, or too many levels. */
function unfitFault(key: string, path: readonly string[], value: unknown): string | undefined {
  const parsed = parseArguments(JSON.stringify(path.reduceRight((inner, name) => ({ [name]: inner }), value)));
  return parsed.ok ? undefined : `${key}: ${parsed.fault.message}`;
}

function put(args: Record<string, unknown>, path: readonly string[], value: unknown, faults: string[]): void {
  let object = args;
  for (const name of path.slice(0, -1)) {
    object[name] ??= Object.create(null);
    if (typeof object[name] !== "object" || object[name] === null) {
      faults.push(`${path.join(".")}: ${name} is given as a value, too`);
      return;
    }
    object = object[name] as Record<string, unknown>;
  }
  const last = path.at(-1) as string;
  if (Object.hasOwn(object, last)) faults.push(`${path.join(".")}: is given in parts and as a whole`);
  else object[last] = value;
}
