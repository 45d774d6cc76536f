import type { CheerioAPI } from "cheerio/slim";
import { type CssNode, type Declaration, type DeclarationList, ident, type List, lexer, type Selector, type StyleSheet } from "css-tree/dist/csstree.esm";
import { PageTooComplexError } from "../page-too-complex-error.ts";
import { TextMemo } from "../text-memo.ts";
import { ancestorsOf, type Element, elementsBelow, type ParentNode, textOf } from "../tree/dom.ts";
import { isQuirkyPage } from "../tree/quirks.ts";
import { holds, mediaHoldsIn } from "./css-conditions.ts";
import { attempt, parseCss, textOfNode } from "./css-text.ts";
import { matchingIn } from "./matching-elements.ts";
import { type ElementNames, namesOf, narrowSheet } from "./narrow-sheet.ts";
import { candidatesIn } from "./selector-candidates.ts";
import { StyleBudget, steps } from "./style-budget.ts";

/** What an element's own style and the page's sheets say of it: values by property, both in lower case. Inheritance is another's matter. */
export type DeclaredStyle = ReadonlyMap<string, string>;

export interface DeclaredStyles {
  of(element: Element): DeclaredStyle;
  /** What may still be spent on them. */
  readonly budget: StyleBudget;
  /** Whether the page has further sheets elsewhere, which nobody reads here. */
  readonly isIncomplete: boolean;
}

/** Of all sheets of a page. */
const MAX_SHEET_CHARACTERS = 2_000_000;
const MAX_SELECTOR_CHARACTERS = 2_000;
const NONE: DeclaredStyle = new Map();

/** What may keep a text from being seen. */
const relevant: ReadonlySet<string> = new Set([
  ...["display", "visibility", "content-visibility", "opacity", "filter", "animation", "animation-name"],
  ...[
    "zoom",
    "rotate",
    "inset",
    "margin",
    "position",
    "left",
    "top",
    "right",
    "bottom",
    "text-indent",
    "margin-left",
    "margin-top",
    "transform",
    "scale",
    "translate",
    "clip",
    "clip-path",
  ],
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
  readonly isLayered: boolean;
  readonly declarations: readonly Declaration[];
}

interface Declared {
  readonly value: string;
  readonly weight: number;
}

/** Whose styles are read. */
export interface DeclaredStylesOptions {
  /** Whether the page's sheets count. @default true */
  readonly withSheets?: boolean;
  /** The elements whose styles are asked for. @default all */
  readonly among?: ReadonlySet<unknown> | undefined;
}

/**
 * Reads styles as a browser's first look on a computer's screen does: sheets in the page, presentational attributes, and style attributes; by
 * importance, origin, layer, specificity and order. Values that are none are left out, and rules for states such as hovering.
 */
export function declaredStyles($: CheerioAPI, root: ParentNode, { withSheets = true, among }: DeclaredStylesOptions = {}): DeclaredStyles {
  const all = elementsBelow(root);
  const elements = among === undefined ? all : all.filter((element) => among.has(element));
  const found = new Map<Element, Map<string, Declared>>();
  const budget = new StyleBudget();
  function declare(element: Element, declared: readonly Longhand[], weight: number): void {
    if (declared.length === 0) return;
    budget.spend(declared.length);
    const own = found.get(element) ?? new Map<string, Declared>();
    found.set(element, own);
    for (const { name, value, isImportant } of declared) {
      const total = weight + (isImportant ? IMPORTANT : 0);
      if (total >= (own.get(name)?.weight ?? 0)) own.set(name, { value, weight: total });
    }
  }

  for (const element of elements) declare(element, longhandsOfText(hintsOf(element), budget), 1);
  const rules = withSheets ? rulesIn(all, elements, budget) : [];
  if (rules.length > 0) {
    const candidates = candidatesIn(elements, isQuirkyPage($));
    const matching = matchingIn($, elements, budget);
    for (const { selector, declarations, isLayered } of rules) {
      const matched = matching(selector, candidates(selector));
      if (matched.length === 0) continue;
      const longhands = longhandsIn(declarations, budget);
      const weight = specificityOf(selector) + (isLayered ? 0 : UNLAYERED);
      for (const element of matched) declare(element, longhands, weight);
    }
  }
  let left = MAX_SHEET_CHARACTERS;
  for (const element of elements) {
    const style = element.attribs["style"];
    if (style === undefined) continue;
    left -= style.length;
    if (left < 0) throw new PageTooComplexError("more styles than can be read");
    declare(element, longhandsOfText(style, budget), INLINE);
  }

  const styles = new Map([...found].map(([element, own]) => [element, new Map([...own].map(([name, { value }]) => [name, value]))]));
  const isIncomplete = all.some(({ name, attribs }) => name === "link" && /\bstylesheet\b/i.test(attribs["rel"] ?? ""));
  return { of: (element) => styles.get(element) ?? NONE, budget, isIncomplete };
}

const IMPORTANT = 1e15;
const INLINE = 1e14;
const UNLAYERED = 1e12;

/** The rules that say something of interest, each selector by itself. */
function rulesIn(all: readonly Element[], elements: readonly Element[], budget: StyleBudget): Rule[] {
  const found: Found = { rules: [], budget };
  let names: ElementNames | undefined;
  let left = MAX_SHEET_CHARACTERS;
  for (const element of all) {
    if (element.name !== "style" || !isSheet(element)) continue;
    const text = textOf(element);
    left -= text.length;
    if (left < 0) throw new PageTooComplexError("more styles than can be read");
    names ??= { all: namesOf(all), subjects: namesOf(elements) };
    const narrowed = narrowSheet(text, names);
    const sheet = parseCss<StyleSheet>(narrowed, { parseValue: false, parseCustomProperty: false });
    if (sheet === undefined) continue;
    const before = found.rules.length;
    collect(sheet.children, found, undefined, false);
    if (isFallback(element)) {
      found.rules.push(
        ...found.rules.splice(before).map((rule) => ({ ...rule, declarations: rule.declarations.filter((declaration) => !hides(declaration)) })),
      );
    }
  }
  return found.rules;
}

const CONDITIONAL: ReadonlySet<string> = new Set(["media", "supports", "container"]);

/** Whether a browser takes a `style` element for a sheet, and on a screen. */
const isSheet = (element: Element): boolean =>
  /^(?:text\/css)?$/i.test(element.attribs["type"] ?? "") &&
  mediaHoldsIn(element.attribs["media"] ?? "") &&
  ![...ancestorsOf(element)].some(({ name }) => inert.has(name));
/** What holds text for a browser, or nothing of the page. */
const inert: ReadonlySet<string> = new Set(["iframe", "noframes", "template"]);

/** Whether a sheet is for readers without scripts. What it shows, the page's scripts show to others; what it hides is of use with scripts only, and others see it. */
const isFallback = (element: Element): boolean => [...ancestorsOf(element)].some(({ name }) => name === "noscript");
const hides = ({ property, value }: Declaration): boolean => hiding.test(`${nameOf(property)}:${textOfValue(value)}`);
const hiding = /^(?:display:none|(?:content-)?visibility:(?:hidden|collapse)|opacity:[0.]+%?)$/;

interface Found {
  readonly rules: Rule[];
  readonly budget: StyleBudget;
}

/** @param around the selector of the rule that these stand in */
function collect(nodes: List<CssNode>, found: Found, around: string | undefined, isLayered: boolean): void {
  const add = (selectors: CssNode | undefined, declarations: readonly Declaration[]): void => {
    if (declarations.length === 0 || selectors?.type !== "SelectorList") return;
    for (const selector of selectors.children) if (selector.type === "Selector") found.rules.push({ selector, declarations, isLayered });
  };
  const read = (text: string): CssNode | undefined => parseCss(text, { context: "selectorList" });
  for (const node of nodes) {
    const unread = around === undefined ? undefined : unreadIn(node);
    if (unread !== undefined && around !== undefined) {
      found.budget.spend(steps.nested * unread.length);
      const rest = parseCss<StyleSheet>(unread, { parseValue: false, parseCustomProperty: false });
      if (rest !== undefined)
        collect(
          rest.children.filter(({ type }) => type !== "Raw"),
          found,
          around,
          isLayered,
        );
      add(read(around), declarationsIn(unread.slice(unread.lastIndexOf("}") + 1)));
    }
    if (node.type === "Atrule" && node.block !== null) {
      const name = node.name.toLowerCase();
      if (name !== "layer" && name !== "scope" && !(CONDITIONAL.has(name) && holds(node.prelude))) continue;
      const inLayer = isLayered || name === "layer";
      if (around !== undefined) add(read(around), relevantOf(node.block.children));
      collect(node.block.children, found, around, inLayer);
    }
    if (node.type !== "Rule") continue;
    const isPlain = around === undefined && node.block.children.toArray().every((inner) => inner.type === "Declaration" && unreadIn(inner) === undefined);
    const text = isPlain ? "" : around === undefined ? textOfNode(node.prelude) : nested(textOfNode(node.prelude), around);
    if (text.length > MAX_SELECTOR_CHARACTERS && around !== undefined) throw new PageTooComplexError("rules in rules whose selectors are too long");
    add(around === undefined ? node.prelude : read(text), relevantOf(node.block.children));
    if (!isPlain) collect(node.block.children, found, text, isLayered);
  }
}

/** The text of nested rules that the parser leaves as it is: it knows them by their "&" only, and takes `a:link {}` for a declaration. */
function unreadIn(node: CssNode): string | undefined {
  if (node.type === "Raw") return node.value.includes("{") ? node.value : undefined;
  const isRule = node.type === "Declaration" && !node.property.startsWith("--") && node.value.type === "Raw" && node.value.value.includes("{");
  return isRule ? textOfNode(node) : undefined;
}

/** A nested rule's selectors, as they would be without nesting. */
function nested(text: string, around: string): string {
  const parent = /^[\w.#-]+$/.test(around) ? around : `:is(${around})`;
  return text.includes("&")
    ? text.replaceAll("&", parent)
    : text
        .split(/,(?![^(]*\))/)
        .map((part) => (/^\s*[>+~]/.test(part) ? `${parent}${part}` : `${parent} ${part}`))
        .join(",");
}

/** What attributes say of how an element looks; they count least. */
function hintsOf({ name, attribs }: Element): string {
  if (name !== "font" && name !== "body" && attribs["bgcolor"] === undefined) return "";
  const colour = name === "font" ? attribs["color"] : name === "body" ? attribs["text"] : undefined;
  const hints = `${colour === undefined ? "" : `color:${colour};`}${attribs["bgcolor"] === undefined ? "" : `background-color:${attribs["bgcolor"]}`}`;
  return hints.slice(0, 200);
}

function declarationsIn(style: string): Declaration[] {
  const list = parseCss<DeclarationList>(style, { context: "declarationList", parseValue: false, parseCustomProperty: false });
  return list === undefined ? [] : relevantOf(list.children);
}

const relevantOf = (nodes: List<CssNode>): Declaration[] =>
  nodes.toArray().filter((node): node is Declaration => {
    if (node.type !== "Declaration") return false;
    const name = nameOf(node.property);
    return name.startsWith("--") || relevant.has(name);
  });

interface Longhand {
  readonly name: string;
  readonly value: string;
  readonly isImportant: boolean;
}

/** What declarations say, but for values that are none: of two declarations a browser has the last that it understands. */
function longhandsIn(declarations: readonly Declaration[], budget: StyleBudget): readonly Longhand[] {
  return declarations.flatMap(({ property, value: declared, important }) => {
    const own = nameOf(property);
    const value = textOfValue(declared);
    if (!isValid(own, value, budget)) return [];
    return longhandsOf(own, value).map(([name, value]) => ({ name, value, isImportant: important !== false }));
  });
}

/** Pages write the same styles at many elements, and each page is read twice. */
const longhandsOfText = (style: string, budget: StyleBudget): readonly Longhand[] =>
  style === ""
    ? []
    : styleTexts.of(style, (text) => {
        budget.spend(steps.style);
        return longhandsIn(declarationsIn(text), budget);
      });

const styleTexts = new TextMemo<readonly Longhand[]>({ maxTexts: 2_000, maxLength: 500 });

const isValid = (name: string, value: string, budget: StyleBudget): boolean =>
  name.startsWith("--") ||
  value.includes("var(") ||
  validity.of(`${name}:${value}`, () => {
    budget.spend(steps.value);
    return attempt(() => lexer.matchProperty(name, value).error === null) ?? false;
  });

const validity = new TextMemo<boolean>({ maxTexts: 20_000, maxLength: 200 });

const nameOf = (property: string): string => {
  const name = property.includes("\\") ? ident.decode(property) : property;
  if (name.startsWith("--")) return name;
  return aliases[name.toLowerCase()] ?? name.toLowerCase();
};

/** As if all pages were written from left to right and from top to bottom. */
const aliases: Readonly<Record<string, string>> = {
  ...{ "inset-inline-start": "left", "inset-inline-end": "right", "inset-block-start": "top", "inset-block-end": "bottom" },
  ...{ "margin-inline-start": "margin-left", "margin-block-start": "margin-top", "inline-size": "width", "block-size": "height" },
  ...{ "max-inline-size": "max-width", "max-block-size": "max-height", "min-block-size": "min-height", "padding-block": "padding" },
};

function longhandsOf(name: string, value: string): readonly (readonly [string, string])[] {
  if (name !== "inset" && name !== "margin") return [[name, value]];
  const [top = value, right = top, bottom = top, left = right] = value.match(/[a-z-]*\((?:[^()]|\([^()]*\))*\)|[^\s]+/g) ?? [];
  const side = name === "inset" ? "" : "margin-";
  return [
    [`${side}top`, top],
    [`${side}right`, right],
    [`${side}bottom`, bottom],
    [`${side}left`, left],
  ];
}

const textOfValue = (value: Declaration["value"]): string => {
  const text = textOfNode(value).trim();
  return (text.includes("\\") ? ident.decode(text) : text).toLowerCase();
};

/** @see https://www.w3.org/TR/selectors-4/#specificity-rules, but for what stands in parentheses, which counts as one class */
function specificityOf({ children }: Selector): number {
  let specificity = 2;
  for (const { type } of children) {
    if (type === "IdSelector") specificity += 1e8;
    else if (type === "ClassSelector" || type === "AttributeSelector" || type === "PseudoClassSelector") specificity += 1e4;
    else if (type === "TypeSelector") specificity += 1;
  }
  return Math.min(specificity, UNLAYERED - 1);
}
