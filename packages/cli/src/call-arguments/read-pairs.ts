import { parseArguments } from "@rockbot/contracts";
import { readTextFile } from "./read-text-file.ts";

/**
 * One argument of a tool on the command line: its text, the value of raw JSON, or nothing if its fault is reported
 * already.
 */
export interface ArgumentPair {
  readonly key: string;
  readonly given: { readonly text: string } | { readonly json: unknown } | undefined;
}

/** True for an argument of the form `key=value`, `key=@file` or `key:=JSON`. */
export const isPair = (word: string): boolean => /^[^={}[\]"\s]+=/.test(word);

/** Takes words apart: `key=value`, `key=@file` for the text of a file, `key:=JSON`. All faults go to `faults`. */
export async function readPairs(words: readonly string[], faults: string[]): Promise<ArgumentPair[]> {
  const pairs: ArgumentPair[] = [];
  for (const word of words) {
    if (isPair(word)) pairs.push(await readPair(word, faults));
    else faults.push(`the argument ${JSON.stringify(word.slice(0, 80))}: expected key=value, key=@file or key:=JSON`);
  }
  return pairs;
}

async function readPair(word: string, faults: string[]): Promise<ArgumentPair> {
  const equals = word.indexOf("=");
  const [name, value] = [word.slice(0, equals), word.slice(equals + 1)];
  if (!name.endsWith(":"))
    return { key: name, given: value.startsWith("@") ? await readText(name, value.slice(1), faults) : { text: value } };
  const key = name.slice(0, -1);
  const parsed = parseArguments(value);
  if (parsed.ok) return { key, given: { json: parsed.value } };
  faults.push(`${key}: ${parsed.fault.message}. Expected JSON after :=, such as ${key}:=5 or ${key}:='"text"'`);
  return { key, given: undefined };
}

async function readText(key: string, path: string, faults: string[]): Promise<{ readonly text: string } | undefined> {
  const read = path === "" ? { fault: "" } : await readTextFile(path);
  if ("text" in read) return read;
  const what = path === "" ? "@ names no file" : `the file ${path} ${read.fault}`;
  faults.push(`${key}: ${what}. For a text that starts with @ write ${key}:='"@…"'`);
  return undefined;
}
