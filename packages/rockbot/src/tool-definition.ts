import {
  boundedValidator,
  type ResultSize,
  referenceFault,
  type ToolDefinition,
  type Validator,
} from "@rockbot/contracts";
import { Ajv2020, type Options } from "ajv/dist/2020.js";
import formats from "ajv-formats";

/** The promises of a tool, as data. */
export interface ToolPromises {
  /** Unique on the bus; what the model calls. Matches `^[A-Za-z0-9_-]{1,64}$`. */
  readonly name: string;
  /** Written for the model. */
  readonly description: string;
  /** JSON Schema of the arguments, draft 2020-12 or 07, with `type: "object"`. */
  readonly inputSchema: object;
  /** JSON Schema of `structured` in the result; absent where the tool gives text only. */
  readonly outputSchema?: object | undefined;
  /** A run changes nothing, so that it may run again without a claim. @default false */
  readonly readOnly?: boolean | undefined;
  /** A second run has no further effect. @default false */
  readonly idempotent?: boolean | undefined;
  /** Only a policy that names the tool in full allows it. @default false */
  readonly dangerous?: boolean | undefined;
  /** How long a result may be given again for the same arguments of the same caller. @default 0 */
  readonly cacheSeconds?: number | undefined;
  /** From when on a result is too large for a model, and how agents then keep it. @default the agent decides */
  readonly resultSize?: ResultSize | undefined;
}

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
/**
 * As the validators of RockBot's own tools are made: every fault is reported, and defaults are written into the
 * arguments.
 */
const OPTIONS: Options = {
  allErrors: true,
  useDefaults: true,
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allowUnionTypes: true,
};

/**
 * A tool's definition from JSON Schemas, whose validators are compiled at once. `Input` is the type of what the input
 * schema lets through: TypeScript does not compare the two.
 * @throws {TypeError} with all faults, if the name or a schema cannot be used
 */
export function toolDefinition<Input = Record<string, unknown>, Output = unknown>(
  promises: ToolPromises,
): ToolDefinition<Input, Output> {
  const { name, readOnly = false, idempotent = false, inputSchema, outputSchema } = promises;
  const ajv = formats.default(new Ajv2020(OPTIONS));
  const faults: string[] = TOOL_NAME.test(name) ? [] : [`the name must match ${TOOL_NAME.source}`];
  const compiled = <T>(which: string, schema: object): Validator<T> => {
    const { $schema: _, ...used } = schema as { readonly $schema?: string }; // ajv refuses drafts that it has not been given, whatever the rest says
    try {
      const fault = referenceFault(used);
      if (fault !== undefined) throw new TypeError(fault);
      return boundedValidator(used, ajv.compile(used) as Validator<T>);
    } catch (error) {
      faults.push(`${which} is not a usable JSON Schema: ${(error as Error).message}`);
      return ((_value: unknown): _value is T => false) as Validator<T>;
    }
  };
  const validateInput = compiled<Input>("inputSchema", inputSchema);
  const validateOutput = outputSchema === undefined ? undefined : compiled<Output>("outputSchema", outputSchema);
  if ((inputSchema as { readonly type?: unknown }).type !== "object")
    faults.push(`inputSchema must have type "object", as arguments are one`);
  if (faults.length > 0) throw new TypeError(`Cannot define the tool "${name}": ${faults.join("; ")}`);
  return { ...promises, readOnly, idempotent, validateInput, validateOutput };
}
