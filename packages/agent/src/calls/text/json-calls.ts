import { readArguments } from "../repair-arguments.ts";

/** A call that stands in a text. */
export interface WrittenCall {
  readonly name: string;
  /** As written: it may be invalid. */
  readonly arguments: string;
}

/** A call, and where in the text it stands. */
export interface PlacedCall extends WrittenCall {
  readonly start: number;
  readonly end: number;
}

type Fields = Readonly<Record<string, unknown>>;

const NAMES = ["name", "tool_name", "tool", "function_name", "function", "action", "recipient_name"];
const ARGUMENTS = [
  "arguments",
  "parameters",
  "args",
  "input",
  "tool_input",
  "action_input",
  "tool_arguments",
  "params",
];

/**
 * The calls that a JSON text is, in any of the shapes that models have been trained on: one, a list, or inside an
 * envelope.
 */
export function jsonCalls(text: string): readonly WrittenCall[] {
  const trimmed = text.trim();
  if (trimmed.startsWith("[")) {
    const list = parsed(trimmed);
    return Array.isArray(list) ? list.flatMap((value) => callsOf(value)) : [];
  }
  const read = trimmed.startsWith("{") ? readArguments(trimmed) : undefined;
  return read?.ok ? callsOf(parsed(read.text)) : [];
}

function callsOf(value: unknown): readonly WrittenCall[] {
  if (!isFields(value)) return [];
  const inside = value["tool_calls"] ?? value["function_call"] ?? value["tool_call"] ?? value["tool_uses"];
  if (Array.isArray(inside)) return inside.flatMap((each) => callsOf(each));
  if (isFields(inside)) return callsOf(inside);
  if (isFields(value["function"])) return callsOf(value["function"]);
  const name = NAMES.map((key) => value[key]).find((found) => typeof found === "string");
  const key = ARGUMENTS.find((candidate) => candidate in value);
  if (typeof name !== "string" || key === undefined) return [];
  const args = value[key];
  return [
    {
      name: name.replace(/^functions?\./, ""),
      arguments: typeof args === "string" ? args : JSON.stringify(args ?? {}),
    },
  ];
}

/**
 * The most characters that are looked through for the ends of JSON values in one text, which may be full of beginnings
 * without an end.
 */
const MAX_LOOKED_THROUGH = 4 * 1024 * 1024;

/** Says where the JSON value of a text ends that begins at a place; -1 if it does not end. */
export function jsonEnds(text: string): (start: number) => number {
  let left = MAX_LOOKED_THROUGH;
  return (start) => {
    if (left <= 0) return -1;
    const end = jsonEnd(text, start);
    left -= (end === -1 ? text.length : end) - start;
    return end;
  };
}

function jsonEnd(text: string, start: number): number {
  let depth = 0;
  let isInText = false;
  for (let at = start; at < text.length; at++) {
    const sign = text[at];
    if (isInText) {
      if (sign === "\\") at++;
      else if (sign === '"') isInText = false;
    } else if (sign === '"') isInText = true;
    else if (sign === "{" || sign === "[") depth++;
    else if ((sign === "}" || sign === "]") && --depth === 0) return at + 1;
  }
  return -1;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
