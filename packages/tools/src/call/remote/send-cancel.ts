import type { Bus } from "@rockbot/bus";
import { createEnvelope, encodeMessage, Header, messages } from "@rockbot/contracts";
import { CANCEL_TTL_MS } from "../../limits.ts";

export interface SentCancel {
  /** The service that has the call. */
  readonly service: string;
  readonly toolCallId: string;
  readonly source: string;
  /** The effective caller, if that is not whom the service sees anyway. */
  readonly onBehalfOf: string | undefined;
  /** Completes "the call was cancelled: …". */
  readonly reason: string;
}

/** Tells all instances of a service that a call is cancelled. Nobody answers. @throws what Bus.publish throws */
export function sendCancel(
  bus: Bus,
  { service, toolCallId, source, onBehalfOf, reason }: SentCancel,
): ReturnType<Bus["publish"]> {
  return bus.publish(
    createEnvelope({
      topic: `tool.cancel.${service}`,
      type: messages.ToolCancel.type,
      source,
      ttlMs: CANCEL_TTL_MS,
      body: encodeMessage("ToolCancel", { toolCallId, reason }),
      headers: onBehalfOf === undefined ? {} : { [Header.OnBehalfOf]: onBehalfOf },
    }),
  );
}
