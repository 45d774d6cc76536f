import type { JsonSchemaType, JsonSchemaValidator, jsonSchemaValidator } from "@modelcontextprotocol/client";
import { describeFaults, faultsText, isInexactText, type Validator } from "@rockbot/contracts";
import { boundedCheck, type ValueCheck } from "./bounded-check.ts";

const MAX_FAULT = 300;

/** The validator of structured content for the SDK. */
export const boundedSchemaValidator: jsonSchemaValidator = {
  getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
    const validate = validatorOf<T>(schema as object);
    return (input) =>
      validate(input) || hasNumbersAsText(input, validate)
        ? { valid: true, data: input as T, errorMessage: undefined }
        : {
            valid: false,
            data: undefined,
            errorMessage: faultsText(describeFaults(validate, schema as object, input)).slice(0, MAX_FAULT),
          };
  },
};

/** A validator of arguments for the schema of a stranger's tool. The schema is looked at with the first value. */
export function validatorOf<T>(schema: object): Validator<T> {
  let check: ValueCheck | undefined;
  const validate: Validator<T> = (value): value is T => {
    check ??= boundedCheck(schema);
    const errors = check(value);
    validate.errors = errors.length === 0 ? null : [...errors];
    return errors.length === 0;
  };
  return validate;
}

/** Tells whether a value fits the schema except for numbers that are carried as text. */
function hasNumbersAsText(input: unknown, validate: Validator<unknown>): boolean {
  let found = false;
  const numbered: unknown = JSON.parse(JSON.stringify(input), (_, value: unknown) => {
    if (typeof value !== "string" || !isInexactText(value)) return value;
    found = true;
    return Number(value);
  });
  return found && validate(numbered);
}
