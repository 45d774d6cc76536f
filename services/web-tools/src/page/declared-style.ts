import type { CheerioAPI } from "cheerio/slim";
import type { CssNode, Declaration, DeclarationList, List, Selector, SelectorList, StyleSheet } from "css-tree";
import generate from "css-tree/generator";
import parse from "css-tree/parser";
import { type Element, elementsBelow, type ParentNode, textOf } from "./dom.ts";

/** What an element's own style and the page's sheets say of it: values by property, both in lower case. Inheritance is another's matter. */
export type DeclaredStyle = ReadonlyMap<string, string>;

export interface DeclaredStyles {
  of(element: Element): DeclaredStyle;
  /** Whether the page has further sheets elsewhere, which nobody reads here. */
  readonly isIncomplete: boolean;
}

/** Of all sheets of a page. */
const MAX_SHEET_CHARACTERS = 2_000_000;
/** Elements that are tried against selectors; what is left is not applied. */
const MAX_TRIALS = 2_000_000;
const MAX_STYLE_CHARACTERS = 4_000;
const NONE: DeclaredStyle = new Map();

/** What may keep a text from being seen. */
const relevant: ReadonlySet<string> = new Set([
  ...["display", "visibility", "content-visibility", "opacity", "filter", "animation", "animation-name"],
  ...["position", "left", "top", "right", "bottom", "text-indent", "margin-left", "margin-top", "transform", "scale", "translate", "clip", "clip-path"],
  ...[
    "width",
    "height",
    "max-width",
    "max-height",
    "min-height",
    "padding",
    "padding-top",
    "padding-bottom",
    "overflow",
    "overflow-x",
    "overflow-y",
    "font-size",
    "font",
  ],
  ...["color", "-webkit-text-fill-color", "background", "background-color", "background-image", "background-clip", "-webkit-background-clip"],
]);

interface Rule {
  readonly selector: Selector;
  readonly text: string;
  readonly declarations: readonly Declaration[];
}

interface Declared {
  readonly value: string;
  readonly weight: number;
}

/**
 * Reads styles as a browser's first look does: sheets in the page, whatever the window's size, and style attributes; by importance, origin,
 * specificity and order. Rules for states such as hovering, for print and for conditions are left out.
 * @param withSheets whether the page's sheets count @default true
 */
export function declaredStyles($: CheerioAPI, root: ParentNode, { withSheets = true }: { readonly withSheets?: boolean } = {}): DeclaredStyles {
  const elements = elementsBelow(root);
  const found = new Map<Element, Map<string, Declared>>();
  function declare(element: Element, declarations: readonly Declaration[], weight: number): void {
    const own = found.get(element) ?? new Map<string, Declared>();
    found.set(element, own);
    for (const { property, value, important } of declarations) {
      const total = weight + (important ? IMPORTANT : 0);
      const name = property.toLowerCase();
      if (total >= (own.get(name)?.weight ?? 0)) own.set(name, { value: textOfValue(value), weight: total });
    }
  }

  const candidates = candidatesIn(elements);
  let trials = MAX_TRIALS;
  for (const { selector, text, declarations } of withSheets ? rulesIn(elements) : []) {
    const tried = candidates(selector);
    trials -= tried.length;
    if (trials < 0) break;
    for (const element of matching($, tried, text)) declare(element, declarations, specificityOf(selector));
  }
  for (const element of elements) {
    const style = element.attribs["style"];
    if (style !== undefined) declare(element, declarationsIn(style.slice(0, MAX_STYLE_CHARACTERS)), INLINE);
  }

  const styles = new Map([...found].map(([element, own]) => [element, new Map([...own].map(([name, { value }]) => [name, value]))]));
  const isIncomplete = elements.some(({ name, attribs }) => name === "link" && /\bstylesheet\b/i.test(attribs["rel"] ?? ""));
  return { of: (element) => styles.get(element) ?? NONE, isIncomplete };
}

const IMPORTANT = 1e15;
const INLINE = 1e14;

/** The rules that say something of interest, each selector by itself. */
function rulesIn(elements: readonly Element[]): Rule[] {
  const rules: Rule[] = [];
  let left = MAX_SHEET_CHARACTERS;
  for (const element of elements) {
    if (element.name !== "style" || !isForScreens(element.attribs["media"] ?? "")) continue;
    const text = textOf(element).slice(0, left);
    left -= text.length;
    const sheet = attempt(() => parse(text, { parseValue: false, parseCustomProperty: false }) as StyleSheet);
    if (sheet !== undefined) collect(sheet.children, rules);
  }
  return rules;
}

function collect(nodes: List<CssNode>, rules: Rule[]): void {
  for (const node of nodes) {
    if (node.type === "Atrule" && node.block !== null) {
      const condition = node.prelude === null ? "" : textOfNode(node.prelude);
      const counts = node.name === "layer" || node.name === "supports" || (node.name === "media" && isForScreens(condition));
      if (counts) collect(node.block.children, rules);
    }
    if (node.type !== "Rule" || node.prelude.type !== "SelectorList") continue;
    const declarations = relevantOf(node.block.children);
    if (declarations.length === 0) continue;
    for (const selector of (node.prelude as SelectorList).children) {
      if (selector.type === "Selector") rules.push({ selector, text: textOfNode(selector), declarations });
    }
  }
}

const isForScreens = (media: string): boolean => /^\s*(?:(?:only\s+)?(?:all|screen)\s*)?$/i.test(media);

function declarationsIn(style: string): Declaration[] {
  const list = attempt(() => parse(style, { context: "declarationList", parseValue: false, parseCustomProperty: false }) as DeclarationList);
  return list === undefined ? [] : relevantOf(list.children);
}

const relevantOf = (nodes: List<CssNode>): Declaration[] =>
  nodes.toArray().filter((node): node is Declaration => node.type === "Declaration" && relevant.has(node.property.toLowerCase()));

const textOfValue = (value: Declaration["value"]): string => textOfNode(value).trim().toLowerCase();

/** As text again. What is in a sheet may break the writer, too. */
const textOfNode = (node: CssNode): string => attempt(() => generate(node)) ?? "";

/** Elements that a selector can be about, by the id, class or name in its last part; none of one that is about states or parts of elements, or about all. */
function candidatesIn(elements: readonly Element[]): (selector: Selector) => readonly Element[] {
  const byKey = new Map<string, Element[]>();
  const add = (key: string, element: Element): void => {
    const known = byKey.get(key);
    if (known === undefined) byKey.set(key, [element]);
    else known.push(element);
  };
  for (const element of elements) {
    const { name, attribs } = element;
    add(name, element);
    if (attribs["id"] !== undefined) add(`#${attribs["id"]}`, element);
    for (const word of new Set((attribs["class"] ?? "").split(/\s+/, 100))) if (word !== "") add(`.${word}`, element);
  }
  return ({ children }) => {
    let key: string | undefined;
    for (const node of children) {
      if (node.type === "Combinator") key = undefined;
      else if (node.type === "PseudoElementSelector" || (node.type === "PseudoClassSelector" && !lasting.has(node.name.toLowerCase()))) return [];
      else if (node.type === "IdSelector") key = `#${node.name}`;
      else if (node.type === "ClassSelector" && !key?.startsWith("#")) key = `.${node.name}`;
      else if (node.type === "TypeSelector" && node.name !== "*") key ??= node.name.toLowerCase();
    }
    return key === undefined ? [] : (byKey.get(key) ?? []);
  };
}

/** What does not change while a page is looked at. */
const lasting: ReadonlySet<string> = new Set([
  ...["not", "is", "where", "first-child", "last-child", "only-child", "nth-child", "nth-last-child", "empty", "root"],
  ...["first-of-type", "last-of-type", "only-of-type", "nth-of-type", "nth-last-of-type"],
]);

const matching = ($: CheerioAPI, elements: readonly Element[], selector: string): readonly Element[] =>
  elements.length === 0
    ? []
    : (attempt(
        () =>
          $([...elements])
            .filter(selector)
            .toArray() as Element[],
      ) ?? []);

/** @see https://www.w3.org/TR/selectors-4/#specificity-rules, but for what stands in parentheses, which counts as one class */
function specificityOf({ children }: Selector): number {
  let specificity = 1;
  for (const { type } of children) {
    if (type === "IdSelector") specificity += 1e8;
    else if (type === "ClassSelector" || type === "AttributeSelector" || type === "PseudoClassSelector") specificity += 1e4;
    else if (type === "TypeSelector") specificity += 1;
  }
  return Math.min(specificity, INLINE - 1);
}

/** What css-tree and cheerio make of a stranger's sheet, unless they throw. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
