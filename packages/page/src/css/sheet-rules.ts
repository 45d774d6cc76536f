import { PageTooComplexError } from "../page-too-complex-error.ts";
import { ancestorsOf, classNamesIn, type Element, textOf } from "../tree/dom.ts";
import { isRelevant } from "./longhands.ts";
import { type PlainSelector, selectorsIn, treeOf } from "./match-selectors.ts";
import { readSheet, type SheetVisitor, type WrittenDeclaration } from "./read-sheet.ts";
import { mediaFor } from "./screen-media.ts";
import type { StyleBudget } from "./style-budget.ts";

/** The bound for all sheets of a page, and for all its style attributes. */
export const MAX_SHEET_CHARACTERS = 2_000_000;
/** Longer ones are not compared. */
const MAX_CONDITION_CHARACTERS = 200;
/** So many rules may stand in each other. */
const MAX_NESTING = 100;

/** Declarations that apply where one of the selectors does. */
export interface Rule {
  readonly selectors: readonly PlainSelector[];
  readonly declarations: readonly WrittenDeclaration[];
  /** The root of the shadow tree that the sheet is of. */
  readonly tree: Element | undefined;
  /**
   * The layers and conditions around it, of which nothing is asked. Rules with the same text apply together, or not at
   * all.
   */
  readonly condition: string;
}

/** Where a rule stands. */
interface Place extends Pick<Rule, "tree" | "condition"> {
  /** The selectors of the rule around, and their text. */
  readonly selectors: readonly PlainSelector[] | undefined;
  readonly outer: string | undefined;
  readonly depth: number;
  /** True if it is for readers without scripts. */
  readonly isFallback: boolean;
}

/** The rules of a page's sheets that say something of interest of elements that are asked for, in their order. */
export function rulesIn(all: readonly Element[], subjects: readonly Element[], budget: StyleBudget): readonly Rule[] {
  const rules: Rule[] = [];
  const names = namesOf(subjects);
  const namesOfAll = namesOf(all);
  let left = MAX_SHEET_CHARACTERS;
  let nameless = 0;
  /** Undefined for media that no screen is of. Layers without names are others each time. */
  const conditionOf = (name: string, prelude: string): string | undefined => {
    const media = name === "media" ? mediaFor(prelude) : "some";
    if (media !== "some") return media === "screens" ? "" : undefined;
    return `@${name}${prelude === "" || prelude.length > MAX_CONDITION_CHARACTERS ? nameless++ : ` ${prelude}`};`;
  };
  const visitor: SheetVisitor<Place> = {
    rule: ({ text, outline }, around) => {
      if (around.selectors === undefined && isUnused(outline, namesOfAll, names)) return undefined;
      const selectors = selectorsIn(text, around.outer, budget);
      const outer = selectors.map((selector) => selector.text).join(",");
      return selectors.length === 0 ? undefined : within(around, { selectors, outer });
    },
    atRule: (name, prelude, around, hasBlock) => {
      if (!hasBlock || !/^(?:media|supports|layer)$/.test(name)) return undefined;
      const own = conditionOf(name, prelude);
      return own === undefined ? undefined : within(around, { condition: around.condition + own });
    },
    declarations: (written, { selectors, isFallback, tree, condition }) => {
      const declarations = written.filter(
        (declaration) => isRelevant(declaration.name) && !(isFallback && hides(declaration)),
      );
      if (declarations.length > 0 && selectors !== undefined) rules.push({ selectors, declarations, tree, condition });
    },
  };
  for (const style of all) {
    if (style.name !== "style" || !isSheet(style)) continue;
    const condition = conditionOf("media", style.attribs["media"] ?? "");
    if (condition === undefined) continue;
    const text = textOf(style);
    left -= text.length;
    if (left < 0) throw new PageTooComplexError("more styles than can be read");
    const isFallback = [...ancestorsOf(style)].some(({ name }) => name === "noscript");
    const [selectors, outer] = [undefined, undefined];
    readSheet(text, { isFallback, tree: treeOf(style), condition, selectors, outer, depth: 0 }, visitor);
  }
  return rules;
}

function within(around: Place, more: Partial<Place>): Place {
  if (around.depth >= MAX_NESTING) throw new PageTooComplexError("more styles than can be read");
  return { ...around, ...more, depth: around.depth + 1 };
}

/** Tells whether a browser takes a `style` element for a sheet. */
const isSheet = (element: Element): boolean =>
  /^(?:text\/css)?$/i.test(element.attribs["type"] ?? "") &&
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
 * Tells whether a rule says nothing of the elements that are asked for, as most rules do: they name others. Reading
 * them is most of what a page's styles cost. It tells nothing of selectors with escapes.
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
