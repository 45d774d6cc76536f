import {
  type AgentTaskMessage,
  type AgentTaskPart,
  type AgentTaskResult,
  partWords,
  visibleText,
} from "@rockbot/contracts";

/** What a message of an agent on the bus says, as text. */
export const messageText = (message: AgentTaskMessage | null | undefined): string => partsText(message?.parts ?? []);

/** All that a result says, each text once. */
export function resultText({ artifacts, message }: Pick<AgentTaskResult, "artifacts" | "message">): string {
  const said = [...(artifacts ?? []).map(({ parts }) => partsText(parts)), messageText(message)].filter(
    (text) => text !== "",
  );
  return [...new Set(said)].join("\n\n");
}

function partsText(parts: readonly AgentTaskPart[]): string {
  const texts = parts.map((part) => {
    const { data, mimeType } = part;
    return (
      partWords(part) ??
      `(file, ${(mimeType ?? "of no said type").slice(0, 100)}, ${data?.length ?? 0} characters: not taken over)`
    );
  });
  return visibleText(texts.filter((text) => text !== "").join("\n")).trim();
}
