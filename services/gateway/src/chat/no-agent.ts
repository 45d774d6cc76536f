import { ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import type { ToolCaller } from "@rockbot/tools";

/**
 * Says in words for people that no agent runs, where the error of a call of its tool only says that the tool is not
 * served.
 */
export function orNoAgent(error: ToolError, caller: Pick<ToolCaller, "tools">): ToolError {
  const isAway = error.code === ToolErrorCode.Unavailable || error.code === ToolErrorCode.ToolNotFound;
  return isAway && error.details?.["mayHaveRun"] !== true && caller.tools.get(tools.agentChat.name) === undefined
    ? noAgent()
    : error;
}

/** The error where no agent runs, with what to do. */
export const noAgent = (): ToolError =>
  new ToolError(
    ToolErrorCode.Unavailable,
    'Cannot answer: no agent runs. Set MODEL and MODEL_URL, and MODEL_API_KEY where the model needs one, then start it again; "rockbot doctor" says what is missing',
  );
