import type { Bus, Logger } from "@rockbot/bus";
import { decodeMessage } from "@rockbot/contracts";
import type { CallClaims } from "../layers/claim.ts";
import { callerOf, type Identity } from "../messages/identity.ts";
import { METERED, type MessageMeter } from "../messages/message-meter.ts";
import type { RunningCalls } from "./running-calls.ts";

export interface TakeCancelsOptions {
  readonly service: string;
  readonly identity: Identity;
  readonly meter: MessageMeter;
  readonly running: RunningCalls;
  /** Where a cancelled call is noted, so that no instance runs it; undefined for tools without effects. */
  readonly claims: CallClaims | undefined;
  readonly log: Logger;
}

/** Cancels calls of a service when their callers say so. */
export function takeCancels(
  bus: Bus,
  { service, identity, meter, running, claims, log }: TakeCancelsOptions,
): Promise<AsyncDisposable> {
  return bus.subscribe(
    { name: `cancel.${service}`, topics: [`tool.cancel.${service}`], kind: "copy", ...METERED },
    async (message) => {
      const sender = identity.senderOf(message);
      if (!meter.admits("cancel", callerOf(message, sender), message.body.byteLength) || "refusal" in sender) return;
      const cancel = decodeMessage("ToolCancel", message.body);
      if (!cancel.ok) return;
      const key = { caller: sender.caller, toolCallId: cancel.value.toolCallId };
      running.cancel(key.caller, key.toolCallId, cancel.value.reason ?? "the caller gave it up");
      await claims
        ?.cancel(key)
        .catch((error: unknown) =>
          log.warn({ toolCallId: key.toolCallId, error: String(error) }, "could not record that a call is cancelled"),
        );
    },
  );
}
