import type { CheerioAPI } from "cheerio/slim";
import {
  type CssNode,
  type Declaration,
  type DeclarationList,
  generate,
  ident,
  type List,
  lexer,
  parse,
  type Selector,
  type StyleSheet,
} from "css-tree/dist/csstree.esm";
import { PageTooComplexError } from "../page-too-complex-error.ts";
import { ancestorsOf, type Element, elementsBelow, type ParentNode, textOf } from "../tree/dom.ts";
import { holds, mediaHoldsIn } from "./css-conditions.ts";
import { matcherOf } from "./match-selector.ts";

/** What an element's own style and the page's sheets say of it: values by property, both in lower case. Inheritance is another's matter. */
export type DeclaredStyle = ReadonlyMap<string, string>;

export interface DeclaredStyles {
  of(element: Element): DeclaredStyle;
  /** Whether the page has further sheets elsewhere, which nobody reads here. */
  readonly isIncomplete: boolean;
}

/** Of all sheets of a page. */
const MAX_SHEET_CHARACTERS = 2_000_000;
/** Elements that are tried against selectors. A page with more is refused: what its last rules hide would else be read. */
const MAX_TRIALS = 2_000_000;
/** So many elements are looked at below another for what one trial costs. */
const LOOKS_OF_TRIAL = 20;
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
  function declare(element: Element, declarations: readonly Declaration[], weight: number): void {
    if (declarations.length === 0) return;
    const own = found.get(element) ?? new Map<string, Declared>();
    found.set(element, own);
    for (const { property, value, important } of declarations) {
      if (!isValid(property, value)) continue;
      const total = weight + (important ? IMPORTANT : 0);
      for (const [name, text] of longhandsOf(property, textOfValue(value))) {
        if (total >= (own.get(name)?.weight ?? 0)) own.set(name, { value: text, weight: total });
      }
    }
  }

  const rules = withSheets ? rulesIn(all) : [];
  const candidates = rules.length === 0 ? () => [] : candidatesIn(elements);
  const classes = new Map<Element, ReadonlySet<string>>();
  let trials = MAX_TRIALS;
  let sizes: ReadonlyMap<Element, number> | undefined;
  for (const element of elements) declare(element, hintsOf(element), 1);
  for (const { selector, declarations, isLayered } of rules) {
    const tried = candidates(selector);
    if (tried.length === 0) continue;
    trials -= tried.length;
    const isMatch = matcherOf(selector, classes);
    const text = isMatch === undefined ? textOfNode(selector) : "";
    if (text.includes(":has(")) {
      sizes ??= sizesOf(elements);
      for (const element of tried) trials -= (sizes.get(element) ?? 0) / LOOKS_OF_TRIAL;
    }
    if (trials < 0) throw new PageTooComplexError("more styles than can be read");
    const weight = specificityOf(selector) + (isLayered ? 0 : UNLAYERED);
    for (const element of isMatch === undefined ? matching($, tried, text) : tried.filter(isMatch)) declare(element, declarations, weight);
  }
  let left = MAX_SHEET_CHARACTERS;
  for (const element of elements) {
    const style = element.attribs["style"];
    if (style === undefined) continue;
    left -= style.length;
    if (left < 0) throw new PageTooComplexError("more styles than can be read");
    declare(element, declarationsIn(style), INLINE);
  }

  const styles = new Map([...found].map(([element, own]) => [element, new Map([...own].map(([name, { value }]) => [name, value]))]));
  const isIncomplete = all.some(({ name, attribs }) => name === "link" && /\bstylesheet\b/i.test(attribs["rel"] ?? ""));
  return { of: (element) => styles.get(element) ?? NONE, isIncomplete };
}

/** How many elements there are below each. */
function sizesOf(elements: readonly Element[]): ReadonlyMap<Element, number> {
  const sizes = new Map<Element, number>();
  for (const element of elements) for (const around of ancestorsOf(element)) sizes.set(around, (sizes.get(around) ?? 0) + 1);
  return sizes;
}

const IMPORTANT = 1e15;
const INLINE = 1e14;
const UNLAYERED = 1e12;

/** The rules that say something of interest, each selector by itself. */
function rulesIn(elements: readonly Element[]): Rule[] {
  const rules: Rule[] = [];
  let left = MAX_SHEET_CHARACTERS;
  for (const element of elements) {
    if (element.name !== "style" || !mediaHoldsIn(element.attribs["media"] ?? "")) continue;
    const text = textOf(element);
    left -= text.length;
    if (left < 0) throw new PageTooComplexError("more styles than can be read");
    const sheet = attempt(() => parse(text, { parseValue: false, parseCustomProperty: false }) as StyleSheet);
    if (sheet !== undefined) collect(sheet.children, rules, undefined, false);
  }
  return rules;
}

const CONDITIONAL: ReadonlySet<string> = new Set(["media", "supports", "container"]);

/** @param around the selector of the rule that these stand in */
function collect(nodes: List<CssNode>, rules: Rule[], around: string | undefined, isLayered: boolean): void {
  const add = (selectors: CssNode | undefined, declarations: readonly Declaration[]): void => {
    if (declarations.length === 0 || selectors?.type !== "SelectorList") return;
    for (const selector of selectors.children) if (selector.type === "Selector") rules.push({ selector, declarations, isLayered });
  };
  const read = (text: string): CssNode | undefined => attempt(() => parse(text, { context: "selectorList" }));
  for (const node of nodes) {
    if (node.type === "Raw" && around !== undefined && node.value.includes("{")) {
      // The parser knows nested rules by their "&" only, and leaves all from one without it as it is.
      const rest = attempt(() => parse(node.value, { parseValue: false, parseCustomProperty: false }) as StyleSheet);
      if (rest !== undefined)
        collect(
          rest.children.filter(({ type }) => type !== "Raw"),
          rules,
          around,
          isLayered,
        );
      add(read(around), declarationsIn(node.value.slice(node.value.lastIndexOf("}") + 1)));
    }
    if (node.type === "Atrule" && node.block !== null) {
      const name = node.name.toLowerCase();
      if (name !== "layer" && name !== "scope" && !(CONDITIONAL.has(name) && holds(node.prelude))) continue;
      const inLayer = isLayered || name === "layer";
      if (around !== undefined) add(read(around), relevantOf(node.block.children));
      collect(node.block.children, rules, around, inLayer);
    }
    if (node.type !== "Rule") continue;
    const isPlain = around === undefined && node.block.children.toArray().every(({ type }) => type === "Declaration");
    const text = isPlain ? "" : around === undefined ? textOfNode(node.prelude) : nested(textOfNode(node.prelude), around);
    if (text.length > MAX_SELECTOR_CHARACTERS && around !== undefined) throw new PageTooComplexError("rules in rules whose selectors are too long");
    add(around === undefined ? node.prelude : read(text), relevantOf(node.block.children));
    if (!isPlain) collect(node.block.children, rules, text, isLayered);
  }
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
function hintsOf({ name, attribs }: Element): Declaration[] {
  const colour = name === "font" ? attribs["color"] : name === "body" ? attribs["text"] : undefined;
  const hints = `${colour === undefined ? "" : `color:${colour};`}${attribs["bgcolor"] === undefined ? "" : `background-color:${attribs["bgcolor"]}`}`;
  return hints === "" ? [] : declarationsIn(hints.slice(0, 200));
}

function declarationsIn(style: string): Declaration[] {
  const list = attempt(() => parse(style, { context: "declarationList", parseValue: false, parseCustomProperty: false }) as DeclarationList);
  return list === undefined ? [] : relevantOf(list.children);
}

const relevantOf = (nodes: List<CssNode>): Declaration[] =>
  nodes.toArray().filter((node): node is Declaration => {
    if (node.type !== "Declaration") return false;
    const name = nameOf(node.property);
    return name.startsWith("--") || relevant.has(name);
  });

/** Whether a browser takes the value: of two declarations it has the last that it understands. */
function isValid(property: string, declared: Declaration["value"]): boolean {
  const value = textOfValue(declared);
  const name = nameOf(property);
  if (name.startsWith("--") || value.includes("var(")) return true;
  const key = `${name}:${value}`;
  const known = validity.get(key);
  if (known !== undefined) return known;
  if (validity.size > 20_000) validity.clear();
  const matches = attempt(() => lexer.matchProperty(name, value).error === null) ?? false;
  validity.set(key, matches);
  return matches;
}

const validity = new Map<string, boolean>();

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

function longhandsOf(property: string, value: string): readonly (readonly [string, string])[] {
  const name = nameOf(property);
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

/** As text again. What is in a sheet may break the writer, too. */
const textOfNode = (node: CssNode): string => attempt(() => generate(node)) ?? "";

/** Elements that a selector can be about, by the id, class, name or attribute in its last part; none of one that is about states or parts of elements. */
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
    for (const attribute of Object.keys(attribs).slice(0, 100)) add(`[${attribute}`, element);
    if (attribs["id"] !== undefined) add(`#${attribs["id"]}`, element);
    for (const word of new Set((attribs["class"] ?? "").split(/\s+/, 100))) if (word !== "") add(`.${word}`, element);
  }
  return ({ children }) => {
    let key: string | undefined;
    for (const node of children) {
      if (node.type === "Combinator") key = undefined;
      else if (node.type === "AttributeSelector") key ??= `[${ident.decode(node.name.name).toLowerCase()}`;
      else if (node.type === "PseudoClassSelector" && node.name.toLowerCase() === "root") key ??= "html";
      else if (node.type === "PseudoElementSelector" || (node.type === "PseudoClassSelector" && !lasting.has(node.name.toLowerCase()))) return [];
      else if (node.type === "IdSelector") key = `#${ident.decode(node.name)}`;
      else if (node.type === "ClassSelector" && !key?.startsWith("#")) key = `.${ident.decode(node.name)}`;
      else if (node.type === "TypeSelector" && node.name !== "*") key = key === undefined || key.startsWith("[") ? ident.decode(node.name).toLowerCase() : key;
    }
    return key === undefined ? elements : (byKey.get(key) ?? []);
  };
}

/** What does not change while a page is looked at. */
const lasting: ReadonlySet<string> = new Set([
  ...[
    "not",
    "is",
    "where",
    "has",
    "link",
    "any-link",
    "checked",
    "disabled",
    "enabled",
    "first-child",
    "last-child",
    "only-child",
    "nth-child",
    "nth-last-child",
    "empty",
    "root",
  ],
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
  let specificity = 2;
  for (const { type } of children) {
    if (type === "IdSelector") specificity += 1e8;
    else if (type === "ClassSelector" || type === "AttributeSelector" || type === "PseudoClassSelector") specificity += 1e4;
    else if (type === "TypeSelector") specificity += 1;
  }
  return Math.min(specificity, UNLAYERED - 1);
}

/** What css-tree and cheerio make of a stranger's sheet, unless they throw. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
