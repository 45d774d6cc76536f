import { readFileSync } from "node:fs";
import { MAX_REQUEST_BYTES, parseArguments } from "@rockbot/contracts";

/** One argument of a tool as the command line has it: its text, or the value of raw JSON. */
export interface ArgumentPair {
  readonly key: string;
  readonly given: { readonly text: string } | { readonly json: unknown };
}

/** Whether a word is an argument of the form `key=value`, `key=@file` or `key:=JSON`. */
export const isPair = (word: string): boolean => /^[^={}[\]"\s]+=/.test(word);

/** Takes words apart: `key=value`, `key=@file` for the text of a file, `key:=JSON`. All faults go to `faults`. */
export function readPairs(words: readonly string[], faults: string[]): ArgumentPair[] {
  return words.flatMap((word): ArgumentPair[] => {
    if (!isPair(word)) {
      faults.push(`the argument ${JSON.stringify(word.slice(0, 80))}: expected key=value, key=@file or key:=JSON`);
      return [];
    }
    const equals = word.indexOf("=");
    const [name, value] = [word.slice(0, equals), word.slice(equals + 1)];
    if (!name.endsWith(":")) {
      const text = value.startsWith("@") ? readText(name, value.slice(1), faults) : value;
      return text === undefined ? [] : [{ key: name, given: { text } }];
    }
    const key = name.slice(0, -1);
    const parsed = parseArguments(value);
    if (parsed.ok) return [{ key, given: { json: parsed.value } }];
    faults.push(`${key}: ${parsed.fault.message}. Expected JSON after :=, such as ${key}:=5 or ${key}:='"text"'`);
    return [];
  });
}

function readText(key: string, path: string, faults: string[]): string | undefined {
  try {
    const bytes = readFileSync(path);
    if (bytes.length <= MAX_REQUEST_BYTES) return bytes.toString("utf8");
    faults.push(`${key}: the file ${path} is larger than ${MAX_REQUEST_BYTES} bytes`);
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    faults.push(`${key}: the file ${path} cannot be read (${code}). For a text that starts with @ write ${key}:='"@…"'`);
  }
  return undefined;
}
