import {
  type CssNode,
  ident,
  type Nth,
  type PseudoClassSelector,
  type PseudoElementSelector,
} from "css-tree/dist/csstree.esm";
import { type AnyNode, type Element, isElement } from "../tree/dom.ts";
import { isShadowRoot } from "../tree/shadow-roots.ts";
import {
  anyOf,
  CLASS,
  type CompiledSelector,
  highest,
  NAME,
  never,
  type Part,
  type Reading,
  type SelectorContext,
  type Start,
} from "./compiled-selector.ts";
import { directionOf, isOfLanguage, isRoot, laterStates, pageStates } from "./element-states.ts";
import type { Combinator, Test } from "./match-chain.ts";
import { placeTest } from "./place-test.ts";
import { type StyleBudget, steps } from "./style-budget.ts";
import { parentOf } from "./trees.ts";

export function pseudoClassTest(node: PseudoClassSelector, part: Part, reading: Reading): Test | undefined {
  const { host, page } = reading.context;
  const name = node.name.toLowerCase();
  const argument = node.children?.first ?? undefined;
  if (/^(?:is|where|not|has|-webkit-any)$/.test(name))
    return node.children === null ? undefined : listTest(name, argument, part, reading);
  reading.specificity += CLASS;
  if (name === "host" || name === "host-context") return hostTest(name, node, part, reading);
  if (name === "lang" || name === "dir")
    return argument?.type === "Identifier" ? speechTest(name, ident.decode(argument.name), page.budget) : undefined;
  if (argument?.type === "Nth") return nthTest(name, argument, reading);
  const isLater = node.children === null ? laterStates.has(name) : /^(?:state|active-view-transition-type)$/.test(name);
  if (isLater) {
    reading.isNever = true;
    return never;
  }
  if (node.children !== null) return undefined;
  if (name === "scope") {
    reading.namesScope = true;
    if (part.ofHost === "never") part.ofHost = "sometimes";
    return scopeTest(reading.context);
  }
  if (name === "root") return host === undefined ? isRoot : never;
  if (name === "defined") return (element) => page.hasScripts || !element.name.includes("-");
  const state = Object.hasOwn(pageStates, name) ? pageStates[name] : undefined;
  if (state === undefined) return placeTest(name, undefined, page.places);
  return (element) => {
    page.budget.spend(name === "empty" ? element.children.length : steps.around);
    return state(element, page.budget);
  };
}

/** Where `:scope` and `&` stand for nothing else, they are the root. */
export const scopeTest =
  ({ host }: SelectorContext): Test =>
  (element, scope) =>
    scope === undefined ? host === undefined && isRoot(element) : element === scope;

const speechTest =
  (name: string, asked: string, budget: StyleBudget): Test =>
  (element) => {
    budget.spend(steps.around);
    return name === "dir" ? directionOf(element, budget) === asked.toLowerCase() : isOfLanguage(element, asked, budget);
  };

function nthTest(name: string, nth: Nth, reading: Reading): Test | undefined {
  const { places } = reading.context.page;
  if (nth.selector === null) return placeTest(name, nth, places);
  const counted = innerSelectors(nth.selector, reading);
  if (counted === undefined) return undefined;
  reading.specificity += highest(counted);
  const isCounted = anyOf(counted);
  return placeTest(name, nth, places, (element) => isCounted(element, undefined));
}

/** The selectors of a list in parentheses; undefined where one is not known. */
function innerSelectors(list: CssNode, reading: Reading, start: Start = "anywhere"): CompiledSelector[] | undefined {
  const all =
    list.type === "SelectorList" ? list.children.toArray().map((selector) => reading.inner(selector, start)) : [];
  return all.length > 0 && all.every((selector) => selector !== undefined) ? all : undefined;
}

function listTest(name: string, list: CssNode | undefined, part: Part, reading: Reading): Test | undefined {
  if (name === "is" || name === "where") {
    // Of these a browser leaves out what it does not know.
    const selectors =
      list?.type === "SelectorList"
        ? list.children.toArray().flatMap((selector) => reading.inner(selector, "anywhere") ?? [])
        : [];
    if (name === "is") reading.specificity += highest(selectors);
    if (part.ofHost === "never" && selectors.some(({ ofHost }) => ofHost !== "never")) part.ofHost = "sometimes";
    return anyOf(selectors);
  }
  if (list === undefined) return undefined;
  const anchor: { element: Element | undefined } = { element: undefined };
  const selectors = innerSelectors(list, reading, name === "has" ? anchor : "anywhere");
  if (selectors === undefined) return undefined;
  reading.specificity += highest(selectors);
  if (name === "has") return hasTest(selectors, anchor, reading.context.page.budget);
  const isAny = anyOf(selectors);
  return name === "not" ? (element, scope) => !isAny(element, scope) : isAny;
}

function hasTest(
  selectors: readonly CompiledSelector[],
  anchor: { element: Element | undefined },
  budget: StyleBudget,
): Test {
  return (element, scope) => {
    const outer = anchor.element;
    anchor.element = element;
    const isFound = selectors.some(({ matches, isNever, leading, isLong }) => {
      if (isNever) return false;
      for (const candidate of within(element, leading, isLong, budget)) if (matches(candidate, scope)) return true;
      return false;
    });
    anchor.element = outer;
    return isFound;
  };
}

/** The elements about which a selector in `:has()` can be. */
function* within(
  element: Element,
  leading: Combinator | undefined,
  isLong: boolean,
  budget: StyleBudget,
): Generator<Element> {
  const open: AnyNode[] = [];
  if (leading === "+" || leading === "~") {
    for (let at = element.next; at !== null; at = at.next) open.push(at);
    open.reverse();
  } else for (let i = element.children.length - 1; i >= 0; i--) open.push(element.children[i] as AnyNode);
  const isDeep = leading === undefined || isLong;
  budget.spend(open.length);
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!isElement(node) || isShadowRoot(node)) continue;
    yield node;
    if (!isDeep) continue;
    budget.spend(node.children.length);
    for (let i = node.children.length - 1; i >= 0; i--) open.push(node.children[i] as AnyNode);
  }
}

/** `:host`, and what it says of the host, or of that and what lies around it. */
function hostTest(name: string, { children }: PseudoClassSelector, part: Part, reading: Reading): Test | undefined {
  part.ofHost = "always";
  if (children === null) return name === "host" ? () => true : undefined;
  const inner = compoundIn(children.first, reading);
  if (inner === undefined) return undefined;
  reading.specificity += inner.specificity;
  if (inner.isNever) return never;
  if (name === "host") return (element) => inner.matches(element, undefined);
  return (element) => {
    for (let at: Element | undefined = element; at !== undefined; at = parentOf(at))
      if (inner.matches(at, undefined)) return true;
    return false;
  };
}

/** A selector without combinators, as some parentheses ask for. */
function compoundIn(selector: CssNode | null, { inner, context: { page } }: Reading): CompiledSelector | undefined {
  const compiled = selector === null ? undefined : inner(selector, "anywhere", { page, host: undefined });
  return compiled?.isSingle === true && compiled.target === undefined ? compiled : undefined;
}

/** Parts of elements that sheets know, beside those of a browser's own. None holds a text of the page. */
const elementParts: ReadonlySet<string> = new Set([
  ...[
    "after",
    "backdrop",
    "before",
    "checkmark",
    "column",
    "cue",
    "details-content",
    "file-selector-button",
    "first-letter",
    "first-line",
    "grammar-error",
  ],
  ...[
    "highlight",
    "marker",
    "permission-icon",
    "picker",
    "picker-icon",
    "placeholder",
    "scroll-button",
    "scroll-marker",
    "scroll-marker-group",
  ],
  ...[
    "search-text",
    "selection",
    "spelling-error",
    "target-text",
    "view-transition",
    "view-transition-group",
    "view-transition-image-pair",
  ],
  ...["view-transition-new", "view-transition-old"],
]);

export function pseudoElementTest(
  { name: written, children }: PseudoElementSelector,
  reading: Reading,
): Test | undefined {
  const name = written.toLowerCase();
  reading.specificity += NAME;
  if (name === "slotted") {
    const inner = compoundIn(children?.first ?? null, reading);
    if (inner === undefined) return undefined;
    reading.specificity += inner.specificity;
    reading.isNever ||= inner.isNever;
    reading.target = { kind: "slotted", inner };
    return () => true;
  }
  if (name === "part") {
    if (children?.first?.type !== "Raw") return undefined;
    reading.target = { kind: "part", names: children.first.value.trim().split(/\s+/) };
    return () => true;
  }
  if (!elementParts.has(name) && !name.startsWith("-webkit-")) return undefined;
  reading.isNever = true;
  return never;
}
