import type { ToolRegistration } from "@rockbot/tools";
import { rockbotSource } from "../generated/rockbot.ts";

/** What a script finds at its start, the same each time that it is run for one call. */
export interface ScriptBeginning {
  /** The seed of `random`. */
  readonly seed: number;
  /** Unix seconds. */
  readonly startedAt: number;
}

type Offered = Pick<ToolRegistration, "name" | "description" | "parametersSchema" | "outputSchema">;

/** The module `rockbot` of a script that may call these tools. */
export function scriptModule(tools: readonly Offered[], { seed, startedAt }: ScriptBeginning): string {
  const listed = tools.map(({ name, description, parametersSchema, outputSchema }) => ({
    name,
    description,
    schema: JSON.parse(parametersSchema) as unknown,
    hasValue: outputSchema !== undefined,
  }));
  // A string of JSON is one of Python.
  const facts = `TOOLS = ${JSON.stringify(JSON.stringify(listed))}\nSEED = ${seed}\nSTARTED_AT = ${startedAt}\n`;
  return facts + rockbotSource;
}
