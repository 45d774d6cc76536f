import { type AgentTaskMessage, base64Bytes, fileText, partWords } from "@rockbot/contracts";

/** What a message may have besides its session. */
const MAX_CHARACTERS = 262_144;

/** What is to be done, in words, or why it cannot be taken. */
export type TaskText = { readonly text: string } | { readonly fault: string };

/**
 * The texts of a task's message, with data and text files as text. Other files are refused: nothing here reads them.
 */
export function taskText({ parts }: AgentTaskMessage): TaskText {
  const texts: string[] = [];
  for (const [i, part] of parts.entries()) {
    const bytes = base64Bytes(part.data ?? "");
    const words = partWords(part) ?? (bytes && fileText({ name: "", mediaType: part.mimeType ?? "", bytes }));
    if (words === undefined)
      return {
        fault: `message.parts.${i}: expected text, data or text files in UTF-8, as base64. Other files are not read here`,
      };
    if (words !== "") texts.push(words);
  }
  const whole = texts.join("\n");
  if (whole.trim() === "") return { fault: "message.parts: there is no text" };
  return whole.length > MAX_CHARACTERS
    ? { fault: `message.parts: more than ${MAX_CHARACTERS} characters` }
    : { text: whole };
}
