import { isBusAgentName } from "@rockbot/contracts";
import type { LoadConfigOptions } from "@rockbot/process/config";
import { readAgentsFile } from "./definitions/read-agents-file.ts";
import type { AgentConfig } from "./generated/config.ts";
import { readBehaviors } from "./model/read-behaviors.ts";
import { readSystemPrompt } from "./model/read-system-prompt.ts";

export { configSchema } from "./generated/config.ts";

/** For `loadConfig`: what the schema cannot say. */
export const check: NonNullable<LoadConfigOptions<AgentConfig>["check"]> = (
  { modelUrl, model, modelApiKey, busAgents = [] },
  isFaulty,
) => [
  ...busAgents.flatMap((name, i) =>
    isBusAgentName(name)
      ? []
      : [`busAgents.${i}: no agent on the bus may be called "${name}", as its topic means something else`],
  ),
  ...(modelUrl !== undefined && model === undefined && !isFaulty("model")
    ? ["model: expected the name of a model, as modelUrl is set"]
    : []),
  ...(modelApiKey !== undefined && modelUrl === undefined && !isFaulty("modelUrl")
    ? ["modelApiKey: expected modelUrl beside it, which gets the key"]
    : []),
];

/** Looks at the files that settings name. @throws {ConfigError} with all faults of the first that has some */
export function checkFiles(config: Readonly<AgentConfig>): void {
  readBehaviors(config.modelBehaviors);
  readSystemPrompt(config.systemPromptFile);
  readAgentsFile(config.agentsFile);
}
