import { PageTooComplexError } from "../page-too-complex-error.ts";
import { ancestorsOf, classNamesIn, type Element, textOf } from "../tree/dom.ts";
import { isRelevant } from "./longhands.ts";
import { type PlainSelector, selectorsIn, treeOf } from "./match-selectors.ts";
import { readSheet, type SheetVisitor, type WrittenDeclaration } from "./read-sheet.ts";
import type { StyleBudget } from "./style-budget.ts";

/** Of all sheets of a page, and of all its style attributes. */
export const MAX_SHEET_CHARACTERS = 2_000_000;
/** So many rules may stand in each other. */
const MAX_NESTING = 100;

/** Declarations that apply where one of the selectors does. */
export interface Rule {
  readonly selectors: readonly PlainSelector[];
  readonly declarations: readonly WrittenDeclaration[];
  /** The root of the shadow tree that the sheet is of. */
  readonly tree: Element | undefined;
  /** Whether it stands in a block whose order among other rules is not known here. */
  readonly isConditional: boolean;
}

/** Where a rule stands. */
interface Place extends Pick<Rule, "tree" | "isConditional"> {
  readonly selectors: readonly PlainSelector[] | undefined;
  readonly depth: number;
  /** Whether it is for readers without scripts. */
  readonly isFallback: boolean;
}

/** The rules of a page's sheets that say something of interest of elements that are asked for, in their order. */
export function rulesIn(all: readonly Element[], subjects: readonly Element[], budget: StyleBudget): readonly Rule[] {
  const rules: Rule[] = [];
  const names = namesOf(subjects);
  const namesOfAll = namesOf(all);
  let left = MAX_SHEET_CHARACTERS;
  const visitor: SheetVisitor<Place> = {
    rule: ({ text, outline }, around) => {
      if (around.selectors === undefined && isUnused(outline, namesOfAll, names)) return undefined;
      const outer = around.selectors?.map((selector) => selector.text).join(",");
      const selectors = selectorsIn(text, outer, budget);
      return selectors.length === 0 ? undefined : within(around, { selectors });
    },
    // Of conditions and layers nothing is asked but for paper and phones: a page hides by them what it likes.
    atRule: (name, prelude, around, hasBlock) =>
      hasBlock && /^(?:media|supports|layer)$/.test(name) && !(name === "media" && isElsewhere(prelude))
        ? within(around, { isConditional: true })
        : undefined,
    declarations: (written, { selectors, isFallback, tree, isConditional }) => {
      const declarations = written.filter(
        (declaration) => isRelevant(declaration.name) && !(isFallback && hides(declaration)),
      );
      if (declarations.length > 0 && selectors !== undefined)
        rules.push({ selectors, declarations, tree, isConditional });
    },
  };
  for (const style of all) {
    if (style.name !== "style" || !isSheet(style)) continue;
    const text = textOf(style);
    left -= text.length;
    if (left < 0) throw new PageTooComplexError("more styles than can be read");
    const isFallback = [...ancestorsOf(style)].some(({ name }) => name === "noscript");
    readSheet(text, { isFallback, tree: treeOf(style), isConditional: false, selectors: undefined, depth: 0 }, visitor);
  }
  return rules;
}

function within(around: Place, more: Partial<Place>): Place {
  if (around.depth >= MAX_NESTING) throw new PageTooComplexError("more styles than can be read");
  return { ...around, ...more, depth: around.depth + 1 };
}

/** Whether all media of a list are other than a computer's screen: paper, speech, and windows below 800 pixels. */
const isElsewhere = (list: string): boolean =>
  list.split(",").every((query) => {
    if (/^\s*(?:only\s+)?(?:print|speech)\b/i.test(query)) return true;
    const [, width = "", unit] = /\bmax(?:-device)?-width\s*:\s*([\d.]+)(px|r?em)/i.exec(query) ?? [];
    return unit !== undefined && Number(width) * (unit.toLowerCase() === "px" ? 1 : 16) < 800;
  });

/** Whether a browser takes a `style` element for a sheet, and on a screen. */
const isSheet = (element: Element): boolean =>
  /^(?:text\/css)?$/i.test(element.attribs["type"] ?? "") &&
  !isElsewhere(element.attribs["media"] ?? "") &&
  ![...ancestorsOf(element)].some(({ name }) => inert.has(name));
/** What holds text for a browser, or nothing of the page. */
const inert: ReadonlySet<string> = new Set(["iframe", "math", "noframes", "template"]);

/**
 * In a sheet for readers without scripts, what shows something shows what the page's scripts do; what hides is of use
 * with scripts only, and others see it.
 */
const hides = ({ name, value }: WrittenDeclaration): boolean => hiding.test(`${name}:${value}`);
export const hiding = /^(?:display:none|(?:content-)?visibility:(?:hidden|collapse)|opacity:[0.]+%?)(?:\s*!|$)/i;

/** What elements are called: `.class`, `#id`, and `name`, in lower case. */
const namesOf = (elements: readonly Element[]): ReadonlySet<string> =>
  new Set(
    elements.flatMap(({ name, attribs: { id, class: list } }) => [
      name,
      ...(id === undefined ? [] : [`#${id.toLowerCase()}`]),
      ...(list === undefined ? [] : classNamesIn(list.toLowerCase()).map((word) => `.${word}`)),
    ]),
  );

/**
 * Whether a rule says nothing of the elements that are asked for, as most rules of most sheets do: they name others.
 * Reading them is most of what a page's styles cost. Of selectors with escapes nothing is said.
 */
function isUnused(outline: string, all: ReadonlySet<string>, subjects: ReadonlySet<string>): boolean {
  if (!/^[ \t\r\n\f\w.#,>+~*:()-]+$/.test(outline)) return false;
  return outline.split(",").every((selector) => {
    const compounds = selector.trim().split(/[\s>+~]+/);
    return compounds.some((compound, i) => {
      const known = i === compounds.length - 1 ? subjects : all;
      const parts = compound.match(/[.#:]*[\w-]+/g) ?? [];
      return parts.some((part) => !part.startsWith(":") && !known.has(part.toLowerCase()));
    });
  });
}
