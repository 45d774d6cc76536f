import { redact } from "@rockbot/base/redaction";
import { printable } from "@rockbot/contracts";

/**
 * Texts of others that RockBot prints between its own, such as errors and descriptions, without this process's secrets.
 * What could steer a terminal, turn text around or hide it is escaped, also for a pipe: its reader often is a terminal.
 * Line breaks and tabs stay.
 */
export const plainText = (text: string): string =>
  redact(text)
    .split(/([\n\t])/)
    .map((part) => (part === "\n" || part === "\t" ? part : printable(part, part.length)))
    .join("");
