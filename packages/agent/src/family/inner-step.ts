import type { AgentEvent } from "@rockbot/contracts";
import type { NewEvent } from "../words/new-event.ts";

/** A step of an inner call has so many characters of arguments, and of an error. */
const MAX_TEXT = 500;

/**
 * A step of a child as its parent tells it: the calls that it and its own children make.
 * @param callId the call that the child is
 * @returns undefined of a step that is not told
 */
export function innerStep(event: AgentEvent, callId: string): Omit<NewEvent, "at"> | undefined {
  const { kind, toolCallId = null, toolName = null, arguments: args, message } = event;
  const { parentCallId = callId, status = null, isError = null, durationMs = null } = event;
  const shared = { parentCallId, toolCallId, toolName };
  if (kind === "tool_started" || kind === "inner_started")
    return { ...shared, kind: "inner_started", arguments: args?.slice(0, MAX_TEXT) ?? null };
  if (kind !== "tool_finished" && kind !== "inner_finished") return undefined;
  const end = { status, isError, durationMs, message: message?.slice(0, MAX_TEXT) ?? null };
  return { ...shared, kind: "inner_finished", ...end };
}
