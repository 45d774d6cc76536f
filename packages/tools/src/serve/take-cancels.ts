import type { Bus, Logger } from "@rockbot/bus";
import { decodeMessage, messages, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { ClaimKey } from "@rockbot/records/claims";
import type { CommandHandler, createCommandTaker } from "../commands/take-commands.ts";
import type { CallClaims } from "../layers/claim.ts";
import { callerOf, type Identity } from "../messages/identity.ts";
import { METERED, type MessageMeter } from "../messages/message-meter.ts";
import type { RunKeeper } from "../runs/run-keeper.ts";
import type { RunningCalls } from "./running-calls.ts";

export interface TakeCancelsOptions {
  readonly service: string;
  readonly identity: Identity;
  readonly meter: MessageMeter;
  readonly running: RunningCalls;
  /** Where a cancelled call is noted, so that no instance runs it; undefined for tools without effects. */
  readonly claims: CallClaims | undefined;
  /** Ends calls that wait for people, or for their turn. */
  readonly keeper: Pick<RunKeeper, "cancel">;
  /** Takes the commands of operators, which come on the same topic. */
  readonly takeCommand: ReturnType<typeof createCommandTaker>;
  readonly log: Logger;
}

type CancelParts = Pick<TakeCancelsOptions, "running" | "claims" | "keeper" | "log">;

/** Cancels calls of a service when their callers say so. */
export function takeCancels(
  bus: Bus,
  { service, identity, meter, takeCommand, ...parts }: TakeCancelsOptions,
): Promise<AsyncDisposable> {
  return bus.subscribe(
    { name: `cancel.${service}`, topics: [`tool.cancel.${service}`], kind: "copy", ...METERED },
    async (message) => {
      const sender = identity.senderOf(message);
      if (!meter.admits("cancel", callerOf(message, sender), message.body.byteLength) || "refusal" in sender) return;
      if (message.type === messages.OperatorCommand.type) return takeCommand(message, sender);
      const cancel = decodeMessage("ToolCancel", message.body);
      if (!cancel.ok) return;
      const { toolCallId, reason } = cancel.value;
      await cancelCall({ caller: sender.caller, toolCallId }, reason ?? "the caller gave it up", parts);
    },
  );
}

/** Ends a call if it runs here, and keeps any instance from running it from now on. */
async function cancelCall(key: ClaimKey, reason: string, { running, claims, keeper, log }: CancelParts): Promise<void> {
  running.cancel(key.caller, key.toolCallId, reason);
  await claims
    ?.cancel(key)
    .catch((error: unknown) =>
      log.warn({ toolCallId: key.toolCallId, error: String(error) }, "could not record that a call is cancelled"),
    );
  await keeper
    .cancel(key, reason)
    .catch((error: unknown) =>
      log.warn({ toolCallId: key.toolCallId, error: String(error) }, "could not end a call that waits"),
    );
}

/**
 * Obeys the command `cancel`, of the call of that id, of any caller. With `caller` it is also cancelled where it
 * waits.
 */
export const cancelByCommand =
  (parts: CancelParts): CommandHandler =>
  async ({ toolCallId, caller }, operator) => {
    if (typeof toolCallId !== "string")
      throw new ToolError(ToolErrorCode.InvalidArguments, "Cannot cancel a call: the command names none");
    const running = parts.running.callersOf(toolCallId);
    for (const each of new Set([...running, ...(typeof caller === "string" ? [caller] : [])]))
      await cancelCall({ caller: each, toolCallId }, `the operator "${operator}" cancelled it`, parts);
    return { wasRunning: running.length > 0 };
  };
