import { type Schema, Validator } from "@cfworker/json-schema";
import { cleanText } from "../../text/clean-text.ts";

const MAX_FAULTS = 20;
const MAX_FAULT_LENGTH = 200;

/**
 * Checks arguments against a schema of ours, by an interpreter.
 * @returns all faults in words; none if the arguments fit
 */
export function argumentFaults(schema: object, args: unknown): readonly string[] {
  const { valid, errors } = new Validator(schema as Schema, "2020-12", false).validate(args);
  if (valid) return [];
  // A keyword that only says that one below it failed adds nothing.
  const own = errors.filter(({ keyword }) => keyword !== "properties" && keyword !== "additionalProperties");
  return (own.length === 0 ? errors : own)
    .slice(0, MAX_FAULTS)
    .map(({ instanceLocation, error }) =>
      cleanText(`${instanceLocation.replace(/^#\/?/, "") || "the arguments"}: ${error}`, MAX_FAULT_LENGTH),
    );
}
