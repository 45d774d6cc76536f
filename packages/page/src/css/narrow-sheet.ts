import type { Element } from "../tree/dom.ts";
import { brackets } from "./css-text.ts";
import { lastingStates } from "./selector-candidates.ts";

/** What stands in brackets and parentheses narrows what the names before it mean. */
const narrowing = /\[[^[\]"'\\]*(?:(?:"[^"\\]*"|'[^'\\]*')[^[\]"'\\]*)?\]|\([^()[\]"'\\]*\)/g;
/** White space and comments before a rule. */
const LEADING = /^(?:\s+|\/\*[\s\S]*?\*\/)+/;
/** Of other selectors nothing is said, as of those with escapes. */
const plainSelectors = /^[\s\w.#,>+~*:-]+$/;

/** What the elements of a page are called: `.class`, `#id`, and `name`. */
export interface ElementNames {
  readonly all: ReadonlySet<string>;
  /** Of those whose styles are asked for. */
  readonly subjects: ReadonlySet<string>;
}

/**
 * Leaves out the rules of a sheet that say nothing of the elements whose styles are asked for: they name others, or are about states. Most rules of most sheets do, and
 * reading them is most of what a page's styles cost. With such a rule goes what it holds.
 */
export function narrowSheet(sheet: string, names: ElementNames): string {
  const kept: string[] = [];
  let keptTo = 0;
  /** Where the next rule begins. */
  let start = 0;
  /** The blocks that are open: where what each belongs to begins, and whether that may be left out. */
  const open: { readonly start: number; readonly kind: "at-rule" | "rule" | "unused" }[] = [];
  /** Of these, the rules. */
  let rules = 0;
  for (const { 0: found, index } of sheet.matchAll(brackets)) {
    const end = index + found.length;
    if (found === "{") {
      const before = sheet.slice(start, index).replace(LEADING, "");
      const kind = before.startsWith("@") ? "at-rule" : rules === 0 && isUnused(before, names) ? "unused" : "rule";
      if (kind !== "at-rule") rules++;
      open.push({ start, kind });
      start = end;
    } else if (found === "}") {
      const closed = open.pop();
      if (closed !== undefined && closed.kind !== "at-rule") rules--;
      if (closed?.kind === "unused") {
        kept.push(sheet.slice(keptTo, closed.start));
        keptTo = end;
      }
      start = end;
    }
  }
  return kept.join("") + sheet.slice(keptTo);
}

function isUnused(selectors: string, names: ElementNames): boolean {
  const plain = /[[(]/.test(selectors) ? selectors.replaceAll(narrowing, "").replaceAll(narrowing, "") : selectors;
  return plainSelectors.test(plain) && plain.split(",").every((selector) => isAboutNone(selector.trim(), names));
}

function isAboutNone(selector: string, { all, subjects }: ElementNames): boolean {
  const compounds = selector.split(/[\s>+~]+/);
  return compounds.some((compound, i) => {
    const known = i === compounds.length - 1 ? subjects : all;
    return compound.match(/[.#:]?[\w-]+/g)?.some((part) => isMissing(part, known)) === true;
  });
}

function isMissing(part: string, known: ReadonlySet<string>): boolean {
  const first = part[0];
  if (first === ":") return !lastingStates.has(part.slice(1).toLowerCase());
  return !known.has(first === "." || first === "#" ? part : part.toLowerCase());
}

/** What elements are called, as `ElementNames` has it. */
export function namesOf(elements: Iterable<Element>): ReadonlySet<string> {
  const names = new Set<string>();
  const lists = new Set<string>();
  for (const { name, attribs } of elements) {
    const { id, class: list } = attribs;
    names.add(name);
    if (id !== undefined) names.add(`#${id}`);
    if (list !== undefined) lists.add(list);
  }
  for (const list of lists) for (const name of list.split(/\s+/)) names.add(`.${name}`);
  return names;
}
