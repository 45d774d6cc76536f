import type { AgentEvent } from "@rockbot/contracts";

/** The step in words, for those who only see that a call is alive; undefined of one that says nothing new. */
export function stepWords({ kind, text, toolName, message, isError }: AgentEvent): string | undefined {
  switch (kind) {
    case "turn_started":
      return "reading the message";
    case "tool_started":
      return `calling ${toolName}`;
    case "tool_progress":
      return message == null ? undefined : `${toolName}: ${message}`;
    case "tool_finished":
      return isError ? `${toolName} has failed` : `${toolName} has answered`;
    case "notice":
      return text ?? undefined;
    default:
      return undefined;
  }
}
