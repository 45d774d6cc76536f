import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { AgentConfig } from "../generated/config.ts";
import { findOllama } from "./find-ollama.ts";

/** The model that the agent asks, and where it is. */
export interface ChosenModel {
  readonly url: string;
  readonly model: string;
  readonly apiKey?: string | undefined;
  readonly protocol?: "openai" | "anthropic" | undefined;
  /** True if the settings name it, or an Ollama was found. */
  readonly isFound: boolean;
}

export type ModelSettings = Pick<AgentConfig, "modelUrl" | "model" | "modelApiKey" | "modelProtocol" | "ollamaUrl">;

/** The names of all chat models that the settings have at one place, the agent's own first. */
export const modelNames = (
  own: string,
  { agentModels, summaryModel = own, wispModel = own }: Pick<AgentConfig, "agentModels" | "summaryModel" | "wispModel">,
): readonly string[] => [...new Set([own, ...agentModels, summaryModel, wispModel])];

/**
 * The model of the settings, else one of a local Ollama that answers.
 * @throws {ToolError} `unavailable`, saying what to set, if there is none
 */
export async function chooseModel(
  { modelUrl, model, modelApiKey, modelProtocol, ollamaUrl }: Readonly<ModelSettings>,
  signal?: AbortSignal,
): Promise<ChosenModel> {
  if (modelUrl !== undefined && model !== undefined)
    return { url: modelUrl, model, apiKey: modelApiKey, protocol: modelProtocol, isFound: false };
  const found = await findOllama(ollamaUrl, model, signal);
  if (typeof found !== "string") return { ...found, protocol: "openai", isFound: true };
  throw new ToolError(
    ToolErrorCode.Unavailable,
    `There is no model: set MODEL_URL and MODEL, and MODEL_API_KEY if it needs one; ${found}`,
    {
      isRetryable: false,
    },
  );
}
