import { tokenize, tokenTypes } from "css-tree/dist/csstree.esm";
import { classNamesIn, type Element } from "../tree/dom.ts";
import { closers } from "./css-text.ts";
import { lastingStates } from "./selector-candidates.ts";

/** Of other selectors nothing is said, as of those with escapes. */
const plainSelectors = /^[ \t\r\n\f\w.#,>+~*:-]+$/;

/** What the elements of a page are called: `.class`, `#id`, and `name`, in lower case. */
export interface ElementNames {
  readonly all: ReadonlySet<string>;
  /** Of those whose styles are asked for. */
  readonly subjects: ReadonlySet<string>;
}

/** A bracket that is open. */
interface Open {
  readonly closer: number;
  /** Where what its block belongs to begins, and whether that may be left out; a bracket without these is no block of rules. */
  readonly start?: number;
  readonly kind?: "at-rule" | "rule" | "unused";
}

/**
 * Leaves out the rules of a sheet that say nothing of the elements whose styles are asked for, as most rules of most sheets do: they name others, or are about states.
 * Reading them is most of what a page's styles cost. With such a rule goes what it holds.
 */
export function narrowSheet(sheet: string, names: ElementNames): string {
  const kept: string[] = [];
  let keptTo = 0;
  const open: Open[] = [];
  /** Of the open blocks, those of rules. */
  let rules = 0;
  /** Where the next rule begins, the first token of what stands before its block, and that without what is in brackets. */
  let start = 0;
  let first: number | undefined;
  let before = "";
  const begin = (at: number): void => {
    start = at;
    first = undefined;
    before = "";
  };
  tokenize(sheet, (type, from, end) => {
    const around = open.at(-1);
    const isInBlock = around === undefined || around.kind !== undefined;
    if (type === around?.closer) {
      open.pop();
      if (around.kind === undefined) return;
      if (around.kind !== "at-rule") rules--;
      if (around.kind === "unused") {
        kept.push(sheet.slice(keptTo, around.start));
        keptTo = end;
      }
      begin(end);
    } else if (type === tokenTypes.LeftCurlyBracket && isInBlock) {
      const kind = first === tokenTypes.AtKeyword ? "at-rule" : rules === 0 && isUnused(before, names) ? "unused" : "rule";
      if (kind !== "at-rule") rules++;
      open.push({ closer: tokenTypes.RightCurlyBracket, start, kind });
      begin(end);
    } else if (isInBlock && isBetweenRules(type, first, open.length === 0)) begin(end);
    else {
      if (isInBlock && rules === 0) before += textOfToken(type, sheet, from, end);
      if (type !== tokenTypes.WhiteSpace) first ??= type;
      const closer = closers.get(type);
      if (closer !== undefined) open.push({ closer });
    }
  });
  return kept.join("") + sheet.slice(keptTo);
}

/** Whether a token stands before a rule and is no part of it. */
function isBetweenRules(type: number, first: number | undefined, isOutermost: boolean): boolean {
  if (type === tokenTypes.Semicolon) return first === tokenTypes.AtKeyword;
  return first === undefined && (type === tokenTypes.Comment || (isOutermost && (type === tokenTypes.CDO || type === tokenTypes.CDC)));
}

/** What stands in brackets narrows what the names before it mean. */
function textOfToken(type: number, sheet: string, start: number, end: number): string {
  if (type === tokenTypes.Function) return sheet.slice(start, end - 1);
  if (type === tokenTypes.LeftSquareBracket) return "";
  return type === tokenTypes.CDC ? "<!" : sheet.slice(start, end);
}

const isUnused = (selectors: string, names: ElementNames): boolean =>
  plainSelectors.test(selectors) && selectors.split(",").every((selector) => isAboutNone(selector, names));

function isAboutNone(selector: string, { all, subjects }: ElementNames): boolean {
  const compounds = selector.trim().split(/[\s>+~]+/);
  return compounds.some((compound, i) => {
    const known = i === compounds.length - 1 ? subjects : all;
    return compound.match(/[.#]?[\w-]+|:+[\w-]*/g)?.some((part) => isMissing(part.toLowerCase(), known)) === true;
  });
}

const isMissing = (part: string, known: ReadonlySet<string>): boolean => (part.startsWith(":") ? !lastingStates.has(part.slice(1)) : !known.has(part));

/** What elements are called, as `ElementNames` has it. */
export function namesOf(elements: Iterable<Element>): ReadonlySet<string> {
  const names = new Set<string>();
  const lists = new Set<string>();
  for (const { name, attribs } of elements) {
    const { id, class: list } = attribs;
    names.add(name);
    if (id !== undefined) names.add(`#${id.toLowerCase()}`);
    if (list !== undefined) lists.add(list.toLowerCase());
  }
  for (const list of lists) for (const name of classNamesIn(list)) names.add(`.${name}`);
  return names;
}
