import { boundedValidator, referenceFault, type Validator } from "@rockbot/contracts";

/**
 * Compiles JSON Schemas that people or models write. Patterns are matched in linear time, as what they are matched with comes from others; those that
 * cannot be (back references, look-around) are faults. Loads its library with the first use.
 * @throws {Error} from the function, saying why a schema cannot be used
 */
export async function schemaCompiler(): Promise<(schema: object) => Validator<unknown>> {
  const { createAjv } = await import("./create-ajv.ts"); // most processes need it never, and start faster without
  const ajv = createAjv();
  return (schema) => {
    const fault = referenceFault(schema);
    if (fault !== undefined) throw new TypeError(fault);
    return boundedValidator(schema, ajv.compile(schema) as Validator<unknown>);
  };
}
