import specificities from "@bramus/specificity";
import { compile, type Options } from "css-select";
import { type CssNode, ident, type Selector, type SelectorList } from "css-tree/dist/csstree.esm";
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
}

/** Longer ones, and ones of more parentheses, stand on no real page: libraries recurse when they read them. */
const MAX_CHARACTERS = 10_000;
const MAX_PARENTHESES = 200;

/**
 * The selectors of a list; none where css-tree does not know one of them.
 * @param around what `&` stands for: the text of the rule around
 */
export function selectorsIn(list: string, around: string | undefined, budget: StyleBudget): readonly PlainSelector[] {
  const text = around === undefined ? list : list.replaceAll(/(^|,)\s*(?=[>+~])/g, "$1& ");
  budget.spend(steps.selector * text.length);
  if (text.split("(", MAX_PARENTHESES + 1).length > MAX_PARENTHESES)
    throw new PageTooComplexError("more styles than can be read");
  const parsed = parseCss<SelectorList>(text, { context: "selectorList" });
  const selectors = (parsed?.children.toArray() ?? []) as Selector[];
  if (around === undefined) return selectors.map(plain);
  return selectors.flatMap((selector) => {
    const own = textOfNode(selector);
    const whole = own.includes("&") ? own.replaceAll("&", `:is(${around})`) : `:is(${around}) ${own}`;
    if (whole.length > MAX_CHARACTERS) throw new PageTooComplexError("more styles than can be read");
    return selectorsIn(whole, undefined, budget);
  });
}

function plain(selector: Selector): PlainSelector {
  const { a, b, c } = specificities.calculateForAST(selector);
  return { text: textOfNode(selector), specificity: a * 2 ** 32 + b * 2 ** 16 + c, key: keyOf(selector) };
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

/** States that no element has before somebody uses the page. Those that css-select does not know match nothing. */
const laterStates = [
  ...["active", "autofill", "focus", "focus-visible", "focus-within", "fullscreen", "hover", "modal", "open"],
  ...["popover-open", "target", "user-invalid", "user-valid", "visited"],
];

/** The elements that a selector is about, in its tree: the page, or the shadow tree of a root. */
export type MatchingElements = (selector: PlainSelector, tree: Element | undefined) => readonly Element[];

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
  const hasTrees = elements.some((element) => treeOf(element) !== undefined);
  const found = new Map<string, readonly Element[]>();
  const options: Options<AnyNode, Element> = {
    adapter: adapterFor(budget),
    quirksMode: isQuirky,
    relativeSelector: false,
    pseudos: Object.fromEntries(laterStates.map((name) => [name, () => false])),
  };

  function matchesOf({ text, key }: PlainSelector): readonly Element[] {
    let test: (element: Element) => boolean;
    try {
      // It keeps what it learns of ancestors, which `:has()` makes wrong.
      test = compile<AnyNode, Element>(text, { ...options, cacheResults: !text.includes(":has(") });
    } catch {
      return [];
    }
    const candidates =
      key === undefined ? elements : (byKey.get(folded(key, isQuirky)) ?? []).map(({ element }) => element);
    budget.spend(candidates.length);
    return candidates.filter((element) => test(element));
  }

  return (selector, tree) => {
    const known = found.get(selector.text) ?? matchesOf(selector);
    found.set(selector.text, known);
    return hasTrees ? known.filter((element) => treeOf(element) === tree) : known;
  };
}

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
