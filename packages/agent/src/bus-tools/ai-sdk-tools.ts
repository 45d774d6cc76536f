import type { ModelTool } from "@rockbot/llm";
import type { BusToolResult } from "./bus-tool-result.ts";

/** Tools in the form that the Vercel AI SDK takes, by name. */
export type AiSdkTools = Record<string, AiSdkTool>;

/** One of them: it runs by itself when the model calls it. */
export interface AiSdkTool {
  readonly description: string;
  readonly inputSchema: AiSdkSchema;
  execute(input: Record<string, unknown>, options: { readonly abortSignal?: AbortSignal | undefined }): Promise<string>;
}

/**
 * A JSON Schema by the interface of Standard Schema. Arguments pass as they are: the service that runs the tool checks
 * them.
 */
export interface AiSdkSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "rockbot";
    readonly validate: (value: unknown) => { readonly value: Record<string, unknown> };
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
  };
}

type Call = (name: string, args: object | undefined, signal: AbortSignal | undefined) => Promise<BusToolResult>;

export function aiSdkTools(tools: readonly ModelTool[], call: Call): AiSdkTools {
  return Object.fromEntries(
    tools.map(({ name, description, parameters }) => [
      name,
      {
        description,
        inputSchema: schemaOf(parameters),
        execute: async (input, { abortSignal }) => (await call(name, input, abortSignal)).content,
      },
    ]),
  );
}

function schemaOf(parameters: object): AiSdkSchema {
  const schema = (): Record<string, unknown> => ({ additionalProperties: true, ...parameters }); // the SDK forbids further properties where nothing is said
  return {
    "~standard": {
      version: 1,
      vendor: "rockbot",
      validate: (value) => ({ value: value as Record<string, unknown> }),
      jsonSchema: { input: schema, output: schema },
    },
  };
}
