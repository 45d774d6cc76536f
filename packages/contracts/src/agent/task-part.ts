import type { AgentTaskPart } from "../generated/types.ts";

/**
 * The words of a part of a task's message: its text, or its data where that is text or JSON. Undefined of a file; "" of
 * a part that holds nothing.
 */
export function partWords({ kind, text, data, mimeType }: AgentTaskPart): string | undefined {
  if (typeof text === "string" && text !== "") return text;
  if (data == null || data === "") return "";
  const isWords = kind !== "file" && (mimeType == null || /^text\/|[/+]json$/.test(mimeType));
  return isWords ? data : undefined;
}
