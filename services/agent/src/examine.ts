import { ToolError } from "@rockbot/contracts";
import type { AgentConfig } from "./generated/config.ts";
import { chooseModel } from "./model/choose-model.ts";

/** For `rockbot doctor`: whether there is a model for the agent. */
export async function examine(config: Readonly<AgentConfig>) {
  const what = "model";
  try {
    const { url, model, isFound } = await chooseModel(config);
    return [{ what, state: "ok", message: `${model} at ${url}${isFound ? ", an Ollama that was found here" : ""}` }] as const;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return [{ what, state: "missing", message: `the agent is off. ${error.message}` }] as const;
  }
}
