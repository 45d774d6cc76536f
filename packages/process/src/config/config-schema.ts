import type { Validator } from "@rockbot/contracts";

/** The settings of a service, generated from its `config.schema.yaml`. */
export interface ConfigSchema<T> {
  /**
   * The JSON Schema: an object without unknown properties. `x-secret: true` marks values that are never printed,
   * `x-unquoted: true` what may hold such values among others, `x-url: true` addresses that must be readable as such.
   */
  readonly schema: object;
  /** The same, compiled. Writes defaults into the value. */
  readonly validate: Validator<T>;
}

/** A JSON Schema as far as loading reads it. */
export interface PropertySchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, PropertySchema>>;
  readonly items?: PropertySchema;
  readonly "x-secret"?: boolean;
  readonly "x-unquoted"?: boolean;
  readonly "x-url"?: boolean;
}

/** The properties of a schema by name. */
export function propertiesOf({ schema }: ConfigSchema<unknown>): ReadonlyMap<string, PropertySchema> {
  return new Map(Object.entries((schema as PropertySchema).properties ?? {}));
}
