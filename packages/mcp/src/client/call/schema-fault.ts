import type { JsonSchemaType, JsonSchemaValidator } from "@modelcontextprotocol/client";
import { boundedSchemaValidator } from "../../schema/bounded-schema-validator.ts";
import { cleanText } from "../../text/clean-text.ts";
import type { McpCallResult } from "./call-result.ts";

const MAX_FAULT = 300;
/** By the schema as the tool's definition has it. */
const validators = new WeakMap<object, JsonSchemaValidator<unknown>>();

/**
 * The result, with words beside its text if it has not the structured content that its tool promises: a failure, as
 * those who count on the promise cannot use it.
 */
export function withSchemaFault(
  result: McpCallResult,
  outputSchema: object | undefined,
  structured: unknown,
): McpCallResult {
  if (outputSchema === undefined || result.isError) return result;
  const fault = structured == null ? "it has no structured content" : faultOf(outputSchema, structured);
  if (fault === undefined) return result;
  const words = `[The tool has run, and its result breaks the tool's own schema: ${cleanText(fault, MAX_FAULT)}]`;
  return { ...result, content: result.content === null ? words : `${result.content}\n\n${words}`, isError: true };
}

function faultOf(schema: object, structured: unknown): string | undefined {
  try {
    let validate = validators.get(schema);
    if (validate === undefined) {
      validate = boundedSchemaValidator.getValidator(schema as JsonSchemaType);
      validators.set(schema, validate);
    }
    return validate(structured).errorMessage;
  } catch (error) {
    return `the schema cannot be used (${String(error)})`;
  }
}
