import { isRecord } from "@rockbot/base";
import { parseArguments } from "@rockbot/contracts";
import { jsonrepair } from "jsonrepair";

/** The arguments of a call as they run, and what was changed; or why they cannot run. */
export type ReadArguments =
  | {
      readonly ok: true;
      readonly text: string /** In words for the model, if anything was changed. */;
      readonly repair?: string | undefined;
    }
  | { readonly ok: false; readonly fault: string };

/** A text of more characters is not repaired. */
const MAX_REPAIRED = 64 * 1024;

/**
 * Reads the arguments that a model wrote. It repairs only what can be meant in one way: missing arguments, a JSON
 * object inside a text, a fence around it, and faults of notation within a text that is complete. A text that ends
 * before its object does may have lost anything, and is refused.
 */
export function readArguments(written: string): ReadArguments {
  const text = written.trim();
  if (text === "" || text === "null" || text === "undefined") return { ok: true, text: "{}" };
  const parsed = parseArguments(text);
  if (parsed.ok) return fromValue(parsed.value, text);
  if (parsed.fault.reason !== "not_json") return { ok: false, fault: `they are ${parsed.fault.message}` };
  const bare = withoutFence(text);
  if (bare !== text) {
    const inside = parseArguments(bare);
    if (inside.ok && isRecord(inside.value))
      return { ok: true, text: bare, repair: "the marks around the JSON were taken away" };
  }
  if (!bare.startsWith("{") || !bare.endsWith("}"))
    return { ok: false, fault: "they are not valid JSON: expected one JSON object, complete" };
  const repaired = bare.length > MAX_REPAIRED ? undefined : repair(bare);
  if (repaired === undefined) return { ok: false, fault: "they are not valid JSON" };
  return { ok: true, text: repaired, repair: `they were not valid JSON, and were read as ${repaired.slice(0, 300)}` };
}

function fromValue(value: unknown, text: string): ReadArguments {
  if (isRecord(value)) return { ok: true, text };
  const inner = typeof value === "string" ? parseArguments(value.trim() === "" ? "{}" : value) : undefined;
  if (inner?.ok && isRecord(inner.value))
    return {
      ok: true,
      text: JSON.stringify(inner.value),
      repair: "they were a JSON object inside a text, and were read as that object",
    };
  return {
    ok: false,
    fault: `they are ${Array.isArray(value) ? "a list" : `the ${value === null ? "value null" : typeof value}`}: expected a JSON object`,
  };
}

/** An object that the repairer makes of it, if it does not have to guess where something ends. */
function repair(text: string): string | undefined {
  try {
    const repaired = jsonrepair(text);
    const parsed = parseArguments(repaired);
    const isSame =
      parsed.ok &&
      isRecord(parsed.value) &&
      brackets(repaired) === brackets(text) &&
      content(repaired) === content(text);
    return isSame && endsInText(repaired) === endsInText(text) ? repaired : undefined;
  } catch {
    return undefined;
  }
}

const brackets = (json: string): number => json.replaceAll(/[^{}[\]]/g, "").length;

/** How many signs are not of the notation: a repair adds none. Comments may go. */
const content = (json: string): number =>
  withoutComments(json)
    .replaceAll(/\\[nrtbf]/g, "")
    .replaceAll(/[\s"'`{}[\]:,\\]/g, "").length;

/**
 * A comment without an end stays. It is found up to the end of all, so that the search does not begin again within it.
 */
const withoutComments = (json: string): string =>
  json.replaceAll(/(?<!:)\/\/.*$|\/\*[\s\S]*?(?:\*\/|(?![\s\S]))/gm, (comment) =>
    comment.startsWith("/*") && !comment.endsWith("*/") ? comment : "",
  );

/** Tells whether it ends in a complete text. */
function endsInText(json: string): boolean {
  let last = json.length - 1;
  while (last >= 0 && /[\s,}\]]/.test(json[last] ?? "")) last--;
  return json[last] === '"' || json[last] === "'";
}

const withoutFence = (text: string): string =>
  text.length > 6 && text.startsWith("```") && text.endsWith("```")
    ? text
        .slice(3, -3)
        .replace(/^[a-z]+/i, "")
        .trim()
    : text;
