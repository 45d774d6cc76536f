import { parseArguments } from "@rockbot/contracts";
import { resolved, type Schema, typesOf } from "./schema.ts";

/** The meaning of a text as a value of the schema, or why it has none that is sure. */
export type TypedValue = { readonly value: unknown } | { readonly fault: string };

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const words: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  null: "null",
  array: "an array",
  object: "an object as JSON",
};

/**
 * The texts given for `key` as a value of its schema: one text, or the items of an array. A text that can mean values
 * of several types is refused in words, and so is one that means none.
 */
export function typedValue(
  key: string,
  texts: readonly string[],
  { schema, root }: { readonly schema: Schema; readonly root: Schema },
): TypedValue {
  const types = typesOf(schema, root);
  const isArray = types?.has("array") === true;
  if (texts.length > 1) {
    if (!isArray && types !== undefined)
      return { fault: `${key}: is given ${texts.length} times, and takes one value` };
    return arrayOf(key, texts, { schema, root });
  }
  const [text = ""] = texts;
  const meanings = meaningsOf(text, types);
  if (meanings.length === 0 && isArray) return arrayOf(key, texts, { schema, root });
  if (meanings.length === 1) return { value: meanings[0]?.value };
  if (meanings.length > 1) {
    const named = meanings.map(({ type, value }) => `${key}:=${shellWord(JSON.stringify(value))} for ${words[type]}`);
    return { fault: `${key}: ${quote(text)} is ambiguous. Write ${named.join(", or ")}` };
  }
  const isForNumber = types?.has("number") === true || types?.has("integer") === true;
  if (isForNumber && NUMBER.test(text) && !parseArguments(text).ok)
    return { fault: `${key}: ${quote(text)} would become ${Number(text)} on its way` };
  const expected = [...(types ?? [])].map((type) => words[type] ?? type);
  return {
    fault: `${key}: expected ${new Intl.ListFormat("en", { type: "disjunction" }).format(expected)}, got ${quote(text)}`,
  };
}

function arrayOf(
  key: string,
  texts: readonly string[],
  { schema, root }: { readonly schema: Schema; readonly root: Schema },
): TypedValue {
  const items = resolved(schema, root).flatMap(({ items }) => (items === undefined ? [] : [items as Schema]));
  const values = texts.map((text) => typedValue(key, [text], { schema: items[0] ?? {}, root }));
  const fault = values.find((value) => "fault" in value);
  return fault ?? { value: values.map((item) => (item as { readonly value: unknown }).value) };
}

interface Meaning {
  readonly type: string;
  readonly value: unknown;
}

/** Every value that the text can be, of the types that are allowed; without types, any. */
function meaningsOf(text: string, types: ReadonlySet<string> | undefined): Meaning[] {
  const may = (type: string): boolean => types === undefined || types.has(type);
  const meanings: Meaning[] = may("string") ? [{ type: "string", value: text }] : [];
  const number = Number(text);
  // A number that would come out as another one is none.
  if (NUMBER.test(text) && parseArguments(text).ok) {
    if (may("number")) meanings.push({ type: "number", value: number });
    else if (may("integer") && Number.isInteger(number)) meanings.push({ type: "integer", value: number });
  }
  if ((text === "true" || text === "false") && may("boolean"))
    meanings.push({ type: "boolean", value: text === "true" });
  if (text === "null" && may("null")) meanings.push({ type: "null", value: null });
  if (/^\s*[[{]/.test(text)) {
    const parsed = parseArguments(text);
    const type = parsed.ok && Array.isArray(parsed.value) ? "array" : "object";
    if (parsed.ok && may(type)) meanings.push({ type, value: parsed.value });
  }
  return meanings;
}

const quote = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** A JSON text as a word of a shell. */
const shellWord = (json: string): string => {
  const short = json.length > 60 ? `${json.slice(0, 60)}…` : json;
  return /^[\w.-]+$/.test(short) ? short : `'${short.replaceAll("'", "'\\''")}'`;
};
