import { isRecord } from "@rockbot/base";
import { type Reference, readReference } from "./reference.ts";

/** A text in parts: what stands there as it is, and what references stand for. */
export type TextParts = readonly (string | Reference)[];

/**
 * Reads a text. `\{{` stands for the signs themselves.
 * @returns its parts, and what is wrong with its references, in words
 */
export function readText(text: string): { readonly parts: TextParts; readonly faults: readonly string[] } {
  const parts: (string | Reference)[] = [];
  const faults: string[] = [];
  let plain = "";
  let at = 0;
  for (;;) {
    const open = text.indexOf("{{", at);
    if (open === -1) break;
    if (text[open - 1] === "\\" && open > at) {
      plain += `${text.slice(at, open - 1)}{{`;
      at = open + 2;
      continue;
    }
    plain += text.slice(at, open);
    const close = text.indexOf("}}", open);
    if (close === -1) {
      faults.push(`"${text.slice(open, open + 60)}" has no }} at its end. For the signs themselves write \\{{`);
      return { parts, faults };
    }
    const reference = readReference(text.slice(open + 2, close));
    if (typeof reference === "string") faults.push(reference);
    else {
      if (plain !== "") parts.push(plain);
      parts.push(reference);
    }
    plain = "";
    at = close + 2;
  }
  plain += text.slice(at);
  if (plain !== "") parts.push(plain);
  return { parts, faults };
}

/** A text of a template, and where in the template it stands. */
export interface PlacedText {
  readonly text: string;
  /** The path as a JSON Pointer. */
  readonly path: string;
}

/** All texts of a template: text, or data with texts in it. Names of properties are no texts. */
export function textsIn(template: unknown, path = ""): readonly PlacedText[] {
  if (typeof template === "string") return [{ text: template, path }];
  if (Array.isArray(template)) return template.flatMap((item, index) => textsIn(item, `${path}/${index}`));
  return isRecord(template)
    ? Object.entries(template).flatMap(([name, value]) => textsIn(value, `${path}/${name}`))
    : [];
}

/** All references of a template that can be read. */
export const referencesIn = (template: unknown): readonly Reference[] =>
  textsIn(template).flatMap(({ text }) => readText(text).parts.filter((part) => typeof part !== "string"));

/**
 * Puts values in the place of references, in one pass: braces in a value stay braces. A text that is one reference
 * becomes the value itself, of its type.
 * @param spend gets the number of characters of each value, and throws once there are too many
 */
export function fillTemplate(
  template: unknown,
  lookUp: (reference: Reference) => unknown,
  spend: (chars: number) => void,
): unknown {
  if (typeof template === "string") return fillText(template, lookUp, spend);
  if (Array.isArray(template)) return template.map((item) => fillTemplate(item, lookUp, spend));
  if (!isRecord(template)) return template;
  return Object.fromEntries(
    Object.entries(template).map(([name, value]) => [name, fillTemplate(value, lookUp, spend)]),
  );
}

function fillText(text: string, lookUp: (reference: Reference) => unknown, spend: (chars: number) => void): unknown {
  const { parts } = readText(text);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && typeof only !== "string") {
    const value = lookUp(only);
    spend(charsOf(value));
    return value;
  }
  return parts
    .map((part) => {
      const shown = typeof part === "string" ? part : asText(lookUp(part));
      spend(shown.length);
      return shown;
    })
    .join("");
}

/** A value as it stands in a text. */
export const asText = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);

/** About how long a value is as JSON. */
export const charsOf = (value: unknown): number =>
  typeof value === "string" ? value.length : (JSON.stringify(value) ?? "").length;
