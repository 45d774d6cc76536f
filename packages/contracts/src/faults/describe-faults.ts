import { closestMatch } from "leven";
import { valueAt } from "../json/value-at.ts";
import { counted } from "./counted.ts";
import { maskLikelySecrets } from "./mask-likely-secrets.ts";
import type { SchemaError, Validator } from "./validator.ts";

/** One thing that is wrong with a value, in words. */
export interface Fault {
  /** JSON pointer into the value; empty for the value itself. */
  readonly path: string;
  readonly message: string;
}

export interface DescribeFaultsOptions {
  /**
   * True to let a message quote what came, unknown names that may be keys or tokens included. Off for values that can
   * be secrets.
   * @default true
   */
  readonly quoteValues?: boolean | undefined;
  /** At most this many faults are described; more would not help a reader. @default 20 */
  readonly maxFaults?: number | undefined;
}

const MAX_QUOTE = 60;

/** What was expected, by the keyword that sets the limit. */
const LIMITS: Readonly<Record<string, (limit: unknown) => string>> = {
  minLength: (limit) =>
    limit === 1
      ? "expected text that is not empty"
      : `expected text of at least ${counted(Number(limit), "character")}`,
  maxLength: (limit) => `expected text of at most ${counted(Number(limit), "character")}`,
  minItems: (limit) => `expected at least ${counted(Number(limit), "item")}`,
  maxItems: (limit) => `expected at most ${counted(Number(limit), "item")}`,
  minProperties: (limit) => `expected at least ${counted(Number(limit), "field")}`,
  maxProperties: (limit) => `expected at most ${counted(Number(limit), "field")}`,
  minimum: (limit) => `expected at least ${String(limit)}`,
  maximum: (limit) => `expected at most ${String(limit)}`,
  exclusiveMinimum: (limit) => `expected more than ${String(limit)}`,
  exclusiveMaximum: (limit) => `expected less than ${String(limit)}`,
  multipleOf: (limit) => `expected a multiple of ${String(limit)}`,
  const: (value) => `expected ${JSON.stringify(value)}`,
  uniqueItems: () => "expected no item twice",
  anyOf: () => "fits none of the forms that it may have",
  oneOf: () => "fits none, or several, of the forms of which it must have one",
  not: () => "has a form that it must not have",
};

/**
 * All faults of the validator's last run. Each says where it is, what was expected and what came. A fault of an unknown
 * property names the nearest known one.
 */
export function describeFaults(
  validator: Validator<unknown>,
  schema: object,
  value: unknown,
  { quoteValues = true, maxFaults = 20 }: DescribeFaultsOptions = {},
): Fault[] {
  const errors = (validator.errors ?? []).filter(({ keyword }) => keyword !== "propertyNames"); // said by the errors of the names themselves
  return errors.slice(0, maxFaults).map((error) => ({
    path:
      error.keyword === "required"
        ? `${error.instancePath}/${String(error.params["missingProperty"])}`
        : error.instancePath,
    message:
      error.propertyName === undefined
        ? describe(error, schema, valueAt(value, error.instancePath), quoteValues)
        : `the name of a property: ${describe(error, schema, error.propertyName, quoteValues)}`,
  }));
}

/** The faults as one line. */
export function faultsText(faults: readonly Fault[]): string {
  return faults
    .map(({ path, message }) => (path === "" ? message : `${maskLikelySecrets(path.slice(1))}: ${message}`))
    .join("; ");
}

function describe(error: SchemaError, schema: object, value: unknown, quoteValues: boolean): string {
  const { params } = error;
  const isMeasured = /^(maxLength|m(in|ax)Items)$/.test(error.keyword);
  const came = quoteValues
    ? `, got ${isMeasured ? (value as { length?: number } | undefined)?.length : quote(value)}`
    : "";
  switch (error.keyword) {
    case "required":
      return "is required and missing";
    case "additionalProperties": {
      const name = String(params["additionalProperty"]);
      const parent = valueAt(schema, error.schemaPath.replace(/^[^#]*#/, "").replace(/\/additionalProperties$/, "")) as
        | { properties?: object }
        | undefined;
      const known = Object.keys(parent?.properties ?? {});
      const nearest = nearestName(name, known);
      const help =
        nearest !== undefined
          ? `did you mean "${nearest}"?`
          : known.length > 0
            ? `known: ${known.join(", ")}`
            : "none is allowed";
      const isTold = quoteValues || nearest !== undefined || /^[A-Za-z_.-]{1,40}$/.test(name); // a name of letters is no key and no token
      return isTold ? `unknown property "${clip(name)}": ${help}` : `unknown property: ${help}`;
    }
    case "type":
      return `expected ${[params["type"]].flat().join(" or ")}${came}`;
    case "enum":
      return `expected one of ${JSON.stringify(params["allowedValues"])}${came}`;
    case "pattern":
      return params["pattern"] === "\\S"
        ? `expected text that is not blank${came}`
        : `expected text that matches ${String(params["pattern"])}${came}`;
    case "format":
      return `expected a valid ${String(params["format"])}${came}`;
    default:
      return `${LIMITS[error.keyword]?.(params["limit"] ?? params["multipleOf"] ?? params["allowedValue"]) ?? error.message ?? error.keyword}${came}`;
  }
}

/** The known name most like `name`, if one is near enough to be a slip of the pen. */
export function nearestName(
  name: string,
  known: readonly string[],
  { maxSlips = Math.max(2, Math.floor(name.length / 3)) }: { readonly maxSlips?: number } = {},
): string | undefined {
  if (name.length > 256) return undefined;
  return closestMatch(name, known, { maxDistance: maxSlips });
}

/** A sentence for an unknown name: the nearest known one, or else all of them. */
export function namesHelp(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? `There are: ${known.join(", ") || "none"}` : `Did you mean "${nearest}"?`;
}

function quote(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "an array" : "an object";
  return typeof value === "string"
    ? `the text ${JSON.stringify(clip(value))}`
    : `the ${typeof value} ${String(value)}`.replace("the object null", "null");
}

/** A value that came may be a secret in the wrong place. */
function clip(text: string): string {
  const shown = maskLikelySecrets(text);
  return shown.length > MAX_QUOTE ? `${shown.slice(0, MAX_QUOTE)}…` : shown;
}
