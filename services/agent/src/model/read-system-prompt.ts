import { readFileSync } from "node:fs";
import { ConfigError } from "@rockbot/process/config";

const MAX_BYTES = 64 * 1024;

/** The text of the file, if there is one. @throws {ConfigError} if it cannot be read, is too long or blank */
export function readSystemPrompt(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  const text = read(file);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BYTES)
    throw new ConfigError([`systemPromptFile: expected at most ${MAX_BYTES} bytes in ${file}, got ${bytes}`]);
  if (text.trim() === "")
    throw new ConfigError([`systemPromptFile: expected words for the model in ${file}, got a blank file`]);
  return text.trim();
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigError([`systemPromptFile: cannot read ${file}: ${(error as NodeJS.ErrnoException).code ?? error}`]);
  }
}
