import type { Validator } from "./faults/validator.ts";
import type { ContentTrust, ResultSize } from "./generated/types.ts";

/** The promises of a tool, generated from its schema. */
export interface ToolDefinition<Input = unknown, Output = unknown> {
  /** Unique on the bus; what the model calls. Matches `^[A-Za-z0-9_-]{1,64}$`. */
  readonly name: string;
  /** The title for people, where clients show tools. @default they show the name */
  readonly title?: string | undefined;
  /** Written for the model. */
  readonly description: string;
  readonly inputSchema: object;
  /** Describes `structured` of the response; absent where the tool gives text only. */
  readonly outputSchema?: object | undefined;
  /** A run changes nothing: a redelivered call may run again without a claim. */
  readonly readOnly: boolean;
  /**
   * Its calls may be asked in the bus's memory alone, where that is cheaper: it is read-only, and done in little time.
   * @default false
   */
  readonly fast?: boolean | undefined;
  /** A second run has no further effect. */
  readonly idempotent: boolean;
  /**
   * Runs what it is given outside a sandbox, or gives rights: a policy allows it only by its full name.
   * @default false
   */
  readonly dangerous?: boolean | undefined;
  /** For how long a result may be given again for the same arguments of the same caller. @default 0 */
  readonly cacheSeconds?: number | undefined;
  /** From when on a result is too large for a model. @default the agent decides */
  readonly resultSize?: ResultSize | undefined;
  /** Whose words name, description and schemas are. @default our own */
  readonly trust?: ContentTrust | undefined;
  readonly validateInput: Validator<Input>;
  /** Mends arguments that do not fit: its result is taken, if that fits. @default nothing */
  readonly mendInput?: ((input: Record<string, unknown>) => Record<string, unknown>) | undefined;
  readonly validateOutput?: Validator<Output> | undefined;
}
