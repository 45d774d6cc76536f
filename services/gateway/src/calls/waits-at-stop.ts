import { setTimeout as sleep } from "node:timers/promises";
import { within } from "@rockbot/base";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { RunState } from "@rockbot/runs";
import { pending, type ToolCaller } from "@rockbot/tools";
import { findOwnCall, type OwnCallOptions } from "./own-call.ts";

/** A cancelled call has ended by then, as its service hears of it at once. */
const [LOOKS, LOOK_MS] = [8, 100];
const READ_MS = 500;

/**
 * The answer to a call that waits for people when the gateway stops: nothing has run. One with a key goes on waiting,
 * any other was withdrawn. Undefined if that is not known to be so.
 */
export async function waitsAtStop(
  caller: ToolCaller,
  { toolCallId, toolName }: { readonly toolCallId: string; readonly toolName: string },
  options: OwnCallOptions,
): Promise<ToolError | undefined> {
  for (let look = 0; look < LOOKS; look++) {
    const read = within(READ_MS, findOwnCall(caller, toolCallId, options), () => new Error("no answer"));
    const run = (await read.catch(() => undefined))?.run;
    if (run === undefined || run.hasStarted || run.state === RunState.Running) return undefined;
    if (run.state === RunState.Ended) {
      if (run.end?.code !== ToolErrorCode.Cancelled) return undefined;
      return new ToolError(
        ToolErrorCode.Unavailable,
        `"${toolName}" was not run: the gateway stopped while the call waited. Try again`,
        { details: { mayHaveRun: false } },
      );
    }
    if (run.isKept) return pending(run);
    await sleep(LOOK_MS);
  }
  return undefined;
}
