import { registerSecret, registerUrlSecret } from "@rockbot/base/redaction";
import { ConfigError, describeFaults } from "@rockbot/contracts";
import { type ConfigSchema, type PropertySchema, propertiesOf } from "./config-schema.ts";
import { type ConfigSection, type Elsewhere, sectionOf, whereIs } from "./config-section.ts";
import { readConfigFile } from "./read-config-file.ts";
import { envName, readEnv } from "./read-env.ts";
import type { Setting } from "./setting.ts";
import { urlFaults } from "./url-faults.ts";

/** More than a schema has properties; bounds the message about a file that is no configuration at all. */
const MAX_FAULTS = 200;

/** Where settings come from, in the order of their rank, and what is checked beside the schema. */
export interface LoadConfigOptions<T = unknown> {
  /** Usually `process.env`. Values are read as the schema's types: `1`, `true`, `a,b`, or JSON for an object. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A YAML or JSON file. @default the variable `CONFIG_FILE` */
  readonly file?: string | undefined;
  /** Which part of the file to read. @default all of it */
  readonly section?: ConfigSection | undefined;
  /** Values by property name that beat all others, such as command line options; undefined is not set. */
  readonly overrides?: Readonly<Record<string, unknown>> | undefined;
  /** What to tell who sets one of these here. @default the names that are known */
  readonly elsewhere?: Elsewhere | undefined;
  /**
   * Finds the faults that the schema cannot know. It sees the properties that are right by themselves, also where
   * others are not, so that all faults are found at once. `isFaulty` tells those others from properties that are not
   * set. Its words hold no secret.
   */
  readonly check?:
    | ((config: Readonly<Partial<T>>, isFaulty: (property: string) => boolean) => readonly string[])
    | undefined;
}

/**
 * The configuration, deeply frozen: the schema's defaults, then the file, then the environment, then the overrides. A
 * later source replaces a property's value as a whole. Values marked `x-secret`, and passwords in URLs, become secrets
 * of this process, also those of a configuration that is refused.
 * @throws {ConfigError} with all faults at once
 */
export function loadConfig<T>(
  config: ConfigSchema<T>,
  {
    env,
    file = env.CONFIG_FILE || undefined,
    section,
    overrides = {},
    elsewhere = {},
    check = () => [],
  }: LoadConfigOptions<T>,
): Readonly<T> {
  const properties = propertiesOf(config);
  const whole = file === undefined ? undefined : readConfigFile(file);
  const fromFile = whole === undefined || section === undefined ? whole : sectionOf(whole, section, elsewhere);
  const fromEnv = readEnv(properties, env);
  const fromOptions = Object.entries(overrides).flatMap(([name, value]): [string, Setting][] =>
    value === undefined ? [] : [[name, { value, source: "an option" }]],
  );
  const settings = new Map<string, Setting>([...(fromFile?.settings ?? []), ...fromEnv.settings, ...fromOptions]);

  // fromEntries makes own properties even of names such as __proto__; the copy keeps the caller's objects unfrozen.
  const value: unknown = structuredClone(
    Object.fromEntries([...settings].map(([name, setting]) => [name, setting.value])),
  );
  registerSecrets(value, config.schema);
  const faults = [...(fromFile?.faults ?? []), ...fromEnv.faults];
  const faulty = new Set<PropertyKey>(fromEnv.faulty);
  if (!config.validate(value)) faults.push(...validationFaults(config, value, { settings, file, faulty, elsewhere }));
  const valid = Object.fromEntries(
    Object.entries(value as object).filter(([property]) => !faulty.has(property)),
  ) as Partial<T>;
  faults.push(...addressFaults(properties, valid), ...check(valid, (property) => faulty.has(property)));
  if (faults.length > 0) throw new ConfigError(faults);
  return deepFreeze(value as T);
}

/** Faults of properties marked `x-url`, and of lists of such, which the schema's patterns cannot find. */
function addressFaults(
  properties: ReadonlyMap<string, PropertySchema>,
  config: Readonly<Record<string, unknown>>,
): string[] {
  return [...properties].flatMap(([name, { "x-url": isUrl, items }]) => {
    const value = config[name];
    if (isUrl) return urlFaults(name, value as string | undefined);
    return items?.["x-url"] && Array.isArray(value) ? value.flatMap((text, i) => urlFaults(`${name}.${i}`, text)) : [];
  });
}

interface Origin {
  readonly settings: ReadonlyMap<string, Setting>;
  readonly file: string | undefined;
  /** Takes the properties that have a fault. */
  readonly faulty: Set<PropertyKey>;
  readonly elsewhere: Elsewhere;
}

function validationFaults<T>(
  config: ConfigSchema<T>,
  value: unknown,
  { settings, file, faulty, elsewhere }: Origin,
): string[] {
  const quoted = describeFaults(config.validate, config.schema, value, { maxFaults: MAX_FAULTS });
  const unquoted = describeFaults(config.validate, config.schema, value, { maxFaults: MAX_FAULTS, quoteValues: false });
  return quoted.map(({ path, message }, i) => {
    const segments = path.split("/").slice(1);
    const [property] = segments;
    const text = concernsSecret(config.schema, segments)
      ? (unquoted[i]?.message ?? "is not valid")
      : withoutUserInfo(message);
    // Only the file and the options can hold a name that the schema does not know, and such a fault has no path.
    if (property === undefined) {
      const name = unknownName(message) ?? "";
      const where = whereIs(name, elsewhere);
      return `${settings.get(name)?.source ?? `the file ${file}`}: ${where === undefined ? text : `unknown property "${name}": ${where}`}`;
    }
    faulty.add(property);
    const setting = settings.get(property);
    if (setting !== undefined) return `${segments.join(".")}, from ${setting.source}: ${text}`;
    return `${segments.join(".")}: ${text}. Set the variable ${envName(property)}, or ${property} in the file`;
  });
}

const unknownName = (message: string): string | undefined => /^unknown property "([^"]*)"/.exec(message)?.[1];

/** Tells whether the value at the path, or one around or inside it, is marked as secret. */
function concernsSecret(schema: object, segments: readonly string[]): boolean {
  let at: PropertySchema | undefined = schema as PropertySchema;
  for (const segment of segments) {
    at = at?.properties?.[segment] ?? at?.items;
    if (isUnquoted(at)) return true;
  }
  return segments.length > 0 && holdsSecret(at);
}

const isUnquoted = (schema: PropertySchema | undefined): boolean =>
  schema?.["x-secret"] === true || schema?.["x-unquoted"] === true;

function holdsSecret(schema: PropertySchema | undefined): boolean {
  if (schema === undefined) return false;
  return isUnquoted(schema) || holdsSecret(schema.items) || Object.values(schema.properties ?? {}).some(holdsSecret);
}

/** In a secret URL only the password is secret: the host may be shown. */
function registerSecrets(
  value: unknown,
  schema: PropertySchema | undefined,
  isSecret = schema?.["x-secret"] === true,
): void {
  if (typeof value === "string") {
    registerUrlSecret(value);
    if (isSecret && !/^[a-z][a-z\d+.-]*:\/\//i.test(value)) registerSecret(value);
  } else if (typeof value === "object" && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      const of = schema?.properties?.[name] ?? schema?.items;
      registerSecrets(inner, of, isSecret || of?.["x-secret"] === true);
    }
  }
}

/** A URL's user and password are secrets wherever they stand. */
const withoutUserInfo = (text: string): string => text.replaceAll(/\/\/[^/\s@"]*@/g, "//[redacted]@");

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
