import { type AgentTaskMessage, type AgentTaskPart, type AgentTaskResult, visibleText } from "@rockbot/contracts";

/** What a message of an agent on the bus says, as text. */
export const messageText = (message: AgentTaskMessage | null | undefined): string => partsText(message?.parts ?? []);

/** All that a result says, each text once. */
export function resultText({ artifacts, message }: Pick<AgentTaskResult, "artifacts" | "message">): string {
  const said = [...(artifacts ?? []).map(({ parts }) => partsText(parts)), messageText(message)].filter((text) => text !== "");
  return [...new Set(said)].join("\n\n");
}

function partsText(parts: readonly AgentTaskPart[]): string {
  const texts = parts.map(({ kind, text, data, mimeType }) => {
    if (typeof text === "string" && text !== "") return text;
    if (typeof data !== "string" || data === "") return "";
    const isFile = kind === "file" || (mimeType != null && !/^text\/|[/+]json$/.test(mimeType));
    return isFile ? `(file, ${(mimeType ?? "of no said type").slice(0, 100)}, ${data.length} characters: not taken over)` : data;
  });
  return visibleText(texts.filter((text) => text !== "").join("\n")).trim();
}
