import { LightAbort } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { CallableTools } from "./find/callable-tools.ts";
import { ignoreProgress } from "./remote/remote-executor.ts";
import type { SendTakenUp } from "./resume-calls.ts";

export interface SendTakenUpOptions {
  readonly tools: Pick<CallableTools, "remote" | "directory">;
  /** On whose behalf calls are, unless their records say so. */
  readonly self: string;
  readonly log: Logger;
}

/**
 * Sends calls that were taken up as they were sent first, with a word on how long ago that was. Their answers go to the
 * same station.
 */
export function sendTakenUp({ tools, self, log }: SendTakenUpOptions): SendTakenUp {
  return async (
    { toolCallId, toolName, caller: address, onBehalfOf: caller = self, blob: acceptBlob, deadlineAt, steps },
    sent,
    isWanted,
  ) => {
    if (tools.remote(toolName) === undefined) await tools.directory.lookFor(toolName);
    const tool = tools.remote(toolName);
    if (tool === undefined)
      throw new ToolError(
        ToolErrorCode.Unavailable,
        `Cannot send the call of "${toolName}" again: nobody serves the tool`,
      );
    const { depth, hasReadUntrusted, grant, operator, ...asked } = sent;
    const [now, clock] = [performance.now(), Date.now()];
    const context = {
      signal: new LightAbort(),
      deadline: now + deadlineAt - clock,
      maybeTakenSince: now - clock + (steps[0]?.at ?? clock),
    };
    const about = { caller, operator, depth, hasReadUntrusted, grant, acceptBlob, progress: ignoreProgress, log };
    await tool.send({ toolCallId, toolName, ...asked }, { ...context, ...about }, { address, isWanted });
  };
}
