import { ToolError } from "@rockbot/contracts";
import { isOpen } from "@rockbot/records/journal";
import { RunState } from "@rockbot/runs";
import type { ToolCaller } from "@rockbot/tools";
import { HttpErrorCode } from "../http/http-error.ts";
import { findOwnCall, type OwnCallOptions } from "./own-call.ts";

/**
 * Cancels a call of the caller, for `DELETE /v1/calls/{toolCallId}`. One that a service keeps ends a little later.
 * @throws {ToolError} `not_found`, or `conflict` if there is nothing to cancel by now
 */
export async function cancelOwnCall(
  caller: Pick<ToolCaller, "journal" | "agent" | "knownTools" | "cancel" | "withdraw">,
  idOrKey: string,
  options: OwnCallOptions,
): Promise<void> {
  const { record, run } = await findOwnCall(caller, idOrKey, options);
  if (run !== undefined && run.state !== RunState.Ended) return caller.withdraw(run);
  if (run === undefined && isOpen(record) && caller.cancel(record.toolCallId, "its caller")) return;
  const why = run === undefined && isOpen(record) ? "another gateway has it" : "it has ended";
  throw new ToolError(HttpErrorCode.Conflict, `Cannot cancel the call: ${why}`, { isRetryable: false });
}
