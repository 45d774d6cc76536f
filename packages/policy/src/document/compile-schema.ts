import { boundedValidator, referenceFault, type Validator } from "@rockbot/contracts";
import type { CompilerOptions } from "./create-ajv.ts";

/**
 * Compiles JSON Schemas that people or models write. Patterns are matched in linear time, as what they are matched with
 * comes from others; those that cannot be (back references, look-around) are faults. Loads its library with the first
 * use.
 * @throws {Error} from the function, saying why a schema cannot be used
 */
export async function schemaCompiler({
  isLenient = false,
}: CompilerOptions = {}): Promise<(schema: object) => Validator<unknown>> {
  const { createAjv } = await import("./create-ajv.ts"); // most processes need it never, and start faster without
  const ajv = createAjv({ isLenient });
  return (schema) => {
    const fault = referenceFault(schema);
    if (fault !== undefined) throw new TypeError(fault);
    return boundedValidator(
      schema,
      ajv.compile(isLenient ? { ...schema, $schema: undefined } : schema) as Validator<unknown>,
    );
  };
}
