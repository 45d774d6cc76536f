import type { Validator } from "../faults/validator.ts";
import { allOf, type Schema, type Subschemas, subschemasIn } from "./subschemas.ts";

/** Schemas times values, in one check. Some 100 ms. */
const MAX_STEPS = 500_000;
/** The largest size of an unwatched schema: it applies to no value more often. */
const MAX_SIZE = 10_000;

/** The keyword of the error of a value that was not checked. */
export const UNCHECKED = "depth";

/**
 * The validator of a schema, which refuses a value whose check would take too long. A schema that refers to itself in
 * two ways is applied to a value as often as ways lead there. Their number doubles with each level of the value. The
 * validator of another schema is returned as it is.
 */
export function boundedValidator<T>(root: object, validate: Validator<T>): Validator<T> {
  const subschemasOf = subschemasIn(root as Schema);
  if (sizeOf(root as Schema, subschemasOf) <= MAX_SIZE) return validate;
  const bounded: Validator<T> = (value): value is T => {
    if (hasMoreSteps(MAX_STEPS, root as Schema, value, subschemasOf)) {
      bounded.errors = [{ keyword: UNCHECKED, instancePath: "", schemaPath: "#", params: {}, message: TOO_MUCH }];
      return false;
    }
    const isValid = validate(value);
    bounded.errors = validate.errors ?? null;
    return isValid;
  };
  return bounded;
}

const TOO_MUCH = `is nested too deeply: its schema refers to itself, and a check would take more than ${MAX_STEPS} steps`;

/** How many schemas there are with all references written out: without end where one leads back. */
function sizeOf(root: Schema, subschemasOf: (schema: Schema) => Subschemas): number {
  const sizes = new Map<Schema, number>();
  const size = (schema: Schema): number => {
    const known = sizes.get(schema);
    if (known !== undefined) return known;
    sizes.set(schema, Number.POSITIVE_INFINITY); // until it is counted
    const sum = allOf(subschemasOf(schema)).reduce((total, each) => total + size(each), 1);
    sizes.set(schema, sum);
    return sum;
  };
  return size(root);
}

function hasMoreSteps(max: number, root: Schema, of: unknown, subschemasOf: (schema: Schema) => Subschemas): boolean {
  const open: (readonly [schema: unknown, value: unknown])[] = [[root, of]];
  for (let steps = 0; ; steps++) {
    const next = open.pop();
    if (next === undefined) return false;
    if (steps + open.length > max) return true;
    const [schema, value] = next;
    if (typeof schema !== "object" || schema === null) continue;
    const { same, properties, everyProperty, first, everyElement } = subschemasOf(schema as Schema);
    for (const each of same) open.push([each, value]);
    if (Array.isArray(value)) {
      for (const [i, element] of value.entries())
        for (const each of [...first.slice(i, i + 1), ...everyElement]) open.push([each, element]);
    } else if (typeof value === "object" && value !== null) {
      for (const [name, inner] of Object.entries(value)) {
        const own = Object.hasOwn(properties, name) ? [properties[name]] : [];
        for (const each of [...own, ...everyProperty]) open.push([each, inner]);
      }
    }
  }
}
