import type { ModelBehaviors } from "@rockbot/llm";
import { loadConfig } from "@rockbot/process/config";
import { behaviorsSchema } from "../generated/behaviors.ts";

/**
 * The behaviours of models by the beginnings of their names; none without a file.
 * @throws {ConfigError} with all faults at once
 */
export function readBehaviors(file: string | undefined): ModelBehaviors {
  if (file === undefined) return {};
  const { ModelBehaviors: { Models = {} } = {}, ...own } = loadConfig(behaviorsSchema, { env: {}, file });
  const original = Object.entries(Models).map(([name, { ToolResultChunkingThreshold: chunkingThreshold } = {}]) => [
    name.replace(/^openrouter\//, ""), // a prefix of the original's, no part of OpenRouter's names
    chunkingThreshold === undefined ? {} : { chunkingThreshold },
  ]);
  return { ...Object.fromEntries(original), ...own } as ModelBehaviors;
}
