import { ToolError } from "@rockbot/contracts";
import { behaviorOf, listModels, ModelError } from "@rockbot/llm";
import type { Finding } from "@rockbot/process";
import type { AgentConfig } from "./generated/config.ts";
import { type ChosenModel, chooseModel, modelNames } from "./model/choose-model.ts";
import { ollamaWindows } from "./model/ollama-window.ts";
import { readBehaviors } from "./model/read-behaviors.ts";
import type { ConnectAgentRecords } from "./records/agent-records.ts";
import { openAgentRecords } from "./records/open-agent-records.ts";

/** A person waits for it. */
const LIST_MS = 5_000;

/**
 * For `rockbot doctor`: whether there is a model for the agent, whether its server offers it, and where robots are
 * kept.
 */
export async function examine(
  config: Readonly<AgentConfig>,
  connect?: ConnectAgentRecords,
): Promise<readonly Finding[]> {
  const model = await examineModel(config);
  return connect === undefined || model.some(({ state }) => state === "off")
    ? model
    : [...model, await examineStore(config, connect)];
}

async function examineStore(config: Readonly<AgentConfig>, connect: ConnectAgentRecords): Promise<Finding> {
  const what = "robots";
  try {
    await using records = await openAgentRecords(config, connect);
    return { what, state: "ok", message: `kept in ${records.where}` };
  } catch (error) {
    return { what, state: "broken", message: error instanceof Error ? error.message : String(error) };
  }
}

const FOUND = { state: "ok", note: ", an Ollama that was found here" } as const;

async function examineModel(config: Readonly<AgentConfig>): Promise<readonly Finding[]> {
  const what = "model";
  try {
    const chosen = await chooseModel(config);
    const where = `${chosen.model} at ${chosen.url}`;
    const own = readBehaviors(config.modelBehaviors);
    const windows = await ollamaWindows(chosen, modelNames(chosen.model, config), own);
    const warnings = [...windows.values()].flatMap((window) => window?.warning ?? []);
    const { state, note } = chosen.isFound ? FOUND : await lookFor(chosen, behaviorOf(chosen.model, own).contextTokens);
    return [{ what, state, message: [`${where}${note}`, ...warnings].join(". ") }] as const;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return [{ what, state: "off", message: `the agent is off. ${error.message}` }] as const;
  }
}

/** A list that lacks the model proves nothing: providers take names that they do not list. */
async function lookFor({ url, model, apiKey, protocol }: ChosenModel, contextTokens: number) {
  try {
    const found = (await listModels({ url, apiKey, protocol, timeoutMs: LIST_MS })).find(({ id }) => id === model);
    if (found === undefined)
      return { state: "ok", note: ", which does not list it. Check MODEL if questions fail" } as const;
    const room = found.contextTokens ?? contextTokens;
    const advice = `. It has room for ${room} tokens there, not ${contextTokens}: say so as contextTokens in MODEL_BEHAVIORS`;
    return { state: "ok", note: room < contextTokens ? advice : "" } as const;
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    if (error.code === "invalid_request") return { state: "ok", note: ", which has no list of models" } as const;
    return { state: "broken", note: `: ${error.message}` } as const;
  }
}
