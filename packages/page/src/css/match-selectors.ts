import specificities from "@bramus/specificity";
import { compile, type Options } from "css-select";
import {
  type CssNode,
  findAll,
  ident,
  type PseudoClassSelector,
  type Selector,
  type SelectorList,
} from "css-tree/dist/csstree.esm";
import { PageTooComplexError } from "../page-too-complex-error.ts";
import { type AnyNode, ancestorsOf, classNamesIn, type Element, isElement, isParent, textOf } from "../tree/dom.ts";
import { folded } from "../tree/quirks.ts";
import { isShadowRoot } from "../tree/shadow-roots.ts";
import { parseCss, textOfNode } from "./css-text.ts";
import { type StyleBudget, steps } from "./style-budget.ts";

/** One selector of a list. */
export interface PlainSelector {
  readonly text: string;
  readonly specificity: number;
  /** What only elements can be about which it is: `#id`, `.class` or a name; undefined for any. */
  readonly key: string | undefined;
  /** The names of the pseudo-classes in it. */
  readonly pseudos: readonly string[];
}

/** Longer ones stand on no real page: libraries recurse when they read them. */
const MAX_CHARACTERS = 10_000;

/**
 * The selectors of a list; none where css-tree does not know one of them.
 * @param around what `&` stands for: the text of the rule around
 */
export function selectorsIn(list: string, around: string | undefined, budget: StyleBudget): readonly PlainSelector[] {
  const text = around === undefined ? list : list.replaceAll(/(^|,)\s*(?=[>+~])/g, "$1& ");
  budget.spend(steps.selector * text.length);
  const parsed = parseCss<SelectorList>(text, { context: "selectorList" });
  const selectors = (parsed?.children.toArray() ?? []) as Selector[];
  if (around === undefined) return selectors.map(plain);
  return selectors.flatMap((selector) => {
    const own = boundedText(selector);
    const places = own.includes("&") ? own.split("&") : ["", ` ${own}`];
    if (own.length + (places.length - 1) * around.length > MAX_CHARACTERS)
      throw new PageTooComplexError("more styles than can be read");
    return selectorsIn(places.join(`:is(${around})`), undefined, budget);
  });
}

/** @throws {PageTooComplexError} if it is too long, as it is where the writer broke: then it is empty */
function boundedText(selector: Selector): string {
  const text = textOfNode(selector);
  if (text === "" || text.length > MAX_CHARACTERS) throw new PageTooComplexError("more styles than can be read");
  return text;
}

function plain(selector: Selector): PlainSelector {
  const text = boundedText(selector);
  const { a, b, c } = specificities.calculateForAST(selector);
  const pseudos = findAll(selector, ({ type }) => type === "PseudoClassSelector") as PseudoClassSelector[];
  return {
    text,
    specificity: a * 2 ** 32 + b * 2 ** 16 + c,
    key: keyOf(selector),
    pseudos: pseudos.map(({ name }) => ident.decode(name).toLowerCase()),
  };
}

function keyOf({ children }: Selector): string | undefined {
  let key: string | undefined;
  children.forEach((node: CssNode) => {
    if (node.type === "Combinator") key = undefined;
    else if (node.type === "IdSelector") key = `#${ident.decode(node.name)}`;
    else if (node.type === "ClassSelector" && key?.startsWith("#") !== true) key = `.${ident.decode(node.name)}`;
    else if (node.type === "TypeSelector" && !/[*|]/.test(node.name)) key ??= ident.decode(node.name).toLowerCase();
  });
  return key;
}

/** States that no element has before somebody uses the page. States that css-select does not know match nothing. */
const laterStates = [
  ...["active", "autofill", "focus", "focus-visible", "focus-within", "fullscreen", "hover", "modal", "open"],
  ...["popover-open", "target", "user-invalid", "user-valid", "visited"],
];

/** What css-select knows beside the standard, as jQuery does. */
const foreign: ReadonlySet<string> = new Set([
  ...["button", "checkbox", "contains", "file", "header", "icontains", "image", "input", "matches", "parent"],
  ...["password", "radio", "reset", "selected", "submit", "text"],
]);

/**
 * The elements that a selector is about, in its tree: the page, or the shadow tree of a root. Undefined where the
 * selector is none, as far as is known here: a browser then may pass by all rules that have it.
 */
export type MatchingElements = (selector: PlainSelector, tree: Element | undefined) => readonly Element[] | undefined;

export interface MatchingOptions {
  /** The elements that are asked for. */
  readonly elements: readonly Element[];
  readonly isQuirky: boolean;
  readonly budget: StyleBudget;
}

/** Finds elements by css-select, which spends the budget of the page with all that it looks at. */
export function matchingOn({ elements, isQuirky, budget }: MatchingOptions): MatchingElements {
  const byKey = Map.groupBy(
    elements.flatMap((element) => keysOf(element, isQuirky).map((key) => ({ key, element }))),
    ({ key }) => key,
  );
  const trees = new Map(elements.map((element) => [element, treeOf(element)]));
  const found = new Map<string, ReturnType<typeof matchesOf>>();
  const options: Options<AnyNode, Element> = {
    adapter: adapterFor(budget),
    quirksMode: isQuirky,
    relativeSelector: false,
    pseudos: Object.fromEntries(laterStates.map((name) => [name, () => false])),
  };

  function matchesOf(selector: PlainSelector): ReadonlyMap<unknown, readonly Element[]> | undefined {
    const { text, key, pseudos } = selector;
    if (pseudos.some((name) => foreign.has(name))) return undefined;
    let test: (element: Element) => boolean;
    try {
      // It keeps what it learns of ancestors, which `:has()` makes wrong.
      test = compile<AnyNode, Element>(text, { ...options, cacheResults: !pseudos.includes("has") });
    } catch {
      const known = text.replaceAll(PSEUDO_ELEMENT, ":not(*)");
      return known === text ? undefined : matchesOf({ ...selector, text: known });
    }
    const candidates =
      key === undefined ? elements : (byKey.get(folded(key, isQuirky)) ?? []).map(({ element }) => element);
    budget.spend(candidates.length);
    return Map.groupBy(candidates.filter(test), (element) => trees.get(element));
  }

  return (selector, tree) => {
    if (!found.has(selector.text)) found.set(selector.text, matchesOf(selector));
    const known = found.get(selector.text);
    return known === undefined ? undefined : (known.get(tree) ?? []);
  };
}

/** Pseudo-elements that all browsers know: css-select knows none. */
const PSEUDO_ELEMENT =
  /(?:::?(?:after|before|first-(?:letter|line))|::(?:-webkit-[\w-]+|backdrop|file-selector-button|marker|placeholder|selection))(?![\w-])/gi;

const keysOf = ({ name, attribs }: Element, isQuirky: boolean): string[] => [
  name,
  ...(attribs["id"] === undefined ? [] : [folded(`#${attribs["id"]}`, isQuirky)]),
  ...new Set(classNamesIn(folded(attribs["class"] ?? "", isQuirky)).map((word) => `.${word}`)),
];

/** The root of the shadow tree that an element stands in. */
export function treeOf(element: Element): Element | undefined {
  for (const around of ancestorsOf(element)) if (isShadowRoot(around)) return around;
  return undefined;
}

/** What css-select sees of the page: a shadow tree ends at its root. */
function adapterFor(budget: StyleBudget): NonNullable<Options<AnyNode, Element>["adapter"]> {
  const childrenOf = (node: AnyNode): AnyNode[] => (isParent(node) ? node.children : []);
  const parentOf = ({ parent }: AnyNode): AnyNode | null =>
    parent === null || (isElement(parent) && isShadowRoot(parent)) ? null : parent;
  const attribute = ({ attribs }: Element, name: string): string | undefined => {
    budget.spend(1 + (attribs[name]?.length ?? 0) * steps.compared);
    return attribs[name];
  };
  const existsOne = (test: (element: Element) => boolean, nodes: readonly AnyNode[]): boolean =>
    nodes.some((node) => {
      budget.spend(1);
      return isElement(node) && !isShadowRoot(node) && (test(node) || existsOne(test, node.children));
    });
  const unused = (): never => {
    throw new Error("Cannot search: selectors are only tried on elements.");
  };
  return {
    isTag: isElement,
    existsOne,
    getAttributeValue: attribute,
    hasAttrib: (element, name) => attribute(element, name) !== undefined,
    getChildren: childrenOf,
    getName: (element) => {
      budget.spend(steps.sibling);
      return element.name;
    },
    getParent: (element) => {
      budget.spend(1);
      return parentOf(element);
    },
    getSiblings: (node) => {
      const siblings = node.parent === null ? [node] : childrenOf(node.parent);
      budget.spend(siblings.length * steps.sibling);
      return siblings;
    },
    getText: (node) => {
      budget.spend(1);
      return textOf(node);
    },
    removeSubsets: unused,
    findAll: unused,
    findOne: unused,
  };
}
