import { readFileSync } from "node:fs";
import type { PropertySchema } from "./config-schema.ts";
import type { Setting, Settings } from "./setting.ts";

export interface EnvSettings extends Settings {
  /** The properties that are set in a way that cannot be read. */
  readonly faulty: readonly string[];
}

/** The variable of a property: `shutdownGraceMs` is `SHUTDOWN_GRACE_MS`. */
export function envName(property: string): string {
  return property.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase();
}

/** The variables of a schema's properties that are secrets. */
export function secretVariables(schema: object): string[] {
  const { properties = {} } = schema as PropertySchema;
  return Object.keys(properties).flatMap((property) =>
    properties[property]?.["x-secret"] === true ? envName(property) : [],
  );
}

/**
 * The values that the environment sets. An empty variable counts as not set, since `NAME=${OTHER:-}` is how a compose
 * file says so. A secret may lie in the file that `NAME_FILE` names, and an empty file counts as not set, too.
 * Variables that belong to no property are ignored.
 */
export function readEnv(
  properties: ReadonlyMap<string, PropertySchema>,
  env: Readonly<Record<string, string | undefined>>,
): EnvSettings {
  const settings = new Map<string, Setting>();
  const faults: string[] = [];
  const faulty: string[] = [];
  for (const [property, schema] of properties) {
    const name = envName(property);
    const text = env[name] || undefined;
    const file = schema["x-secret"] === true ? env[`${name}_FILE`] || undefined : undefined;
    if (text !== undefined && file !== undefined) {
      faulty.push(property);
      faults.push(`${property}: both the variables ${name} and ${name}_FILE are set. Set one of them`);
    } else if (file !== undefined) {
      try {
        const secret = readFileSync(file, "utf8").replace(/\r?\n$/, "");
        if (secret !== "")
          settings.set(property, { value: coerce(secret, schema), source: `the variable ${name}_FILE` });
      } catch (error) {
        faulty.push(property);
        faults.push(
          `${property}, from the variable ${name}_FILE: the file it names cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`,
        );
      }
    } else if (text !== undefined) {
      settings.set(property, { value: coerce(text, schema), source: `the variable ${name}` });
    }
  }
  return { settings, faults, faulty };
}

/**
 * The value that a text stands for by the schema's type; the text itself where it stands for none, which validation
 * then reports.
 */
function coerce(text: string, { type, items }: PropertySchema): unknown {
  const types = [type].flat();
  const trimmed = text.trim();
  if ((types.includes("integer") || types.includes("number")) && /^-?\d{1,15}(\.\d+)?$/.test(trimmed))
    return Number(trimmed);
  if (types.includes("boolean")) {
    if (trimmed === "true" || trimmed === "1") return true;
    if (trimmed === "false" || trimmed === "0") return false;
  }
  if (types.includes("array") && !trimmed.startsWith("[")) {
    return text.split(",").flatMap((item) => (item.trim() === "" ? [] : [coerce(item.trim(), items ?? {})]));
  }
  if (types.includes("array") || types.includes("object")) {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
  return text;
}
