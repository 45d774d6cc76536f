import type { CssNode } from "css-tree/dist/csstree.esm";
import type { Element } from "../tree/dom.ts";
import type { Combinator, Compound, Test } from "./match-chain.ts";
import type { Places } from "./place-test.ts";
import type { StyleBudget } from "./style-budget.ts";

/** A selector that a browser knows. */
export interface CompiledSelector {
  /**
   * Counts of ids, of classes and of names, the one above the other.
   * @see https://drafts.csswg.org/selectors/#specificity-rules
   */
  readonly specificity: number;
  /**
   * How many compounds it may be deep in while it is matched, with those in its parentheses and those of rules around
   * it.
   */
  readonly depth: number;
  readonly matches: Test;
  /**
   * What only elements can be about which the selector is: `#id`, `.class`, `[attribute` or a name; undefined for any.
   */
  readonly key: string | undefined;
  /** Whether it is about nothing that a page shows at first, as of states and of what sheets themselves insert. */
  readonly isNever: boolean;
  /** Whether it is about the host of its tree, or may be. */
  readonly ofHost: Compound["ofHost"];
  /** The combinator that it begins with, and whether it has one more: in `:has()`. */
  readonly leading: Combinator | undefined;
  readonly isLong: boolean;
  /** Whether it has no combinator. */
  readonly isSingle: boolean;
  /** What the selector's element is only the way to: what stands in its slot, or parts of its shadow tree. */
  readonly target: Target | undefined;
}

export type Target =
  | { readonly kind: "slotted"; readonly inner: CompiledSelector }
  | { readonly kind: "part"; readonly names: readonly string[] };

/** What selectors of a page share. */
export interface SelectorPage {
  /** Whether the case of ids and classes says nothing. */
  readonly isQuirky: boolean;
  /** Whether scripts may define elements of the page's own making. */
  readonly hasScripts: boolean;
  readonly places: Places;
  /** What was read of elements' classes. */
  readonly classes: Map<Element, ReadonlySet<string>>;
  readonly budget: StyleBudget;
}

/** Where a selector stands. */
export interface SelectorContext {
  readonly page: SelectorPage;
  /** The host of the tree that the sheet is of. */
  readonly host: Element | undefined;
  /** The selectors that `&` stands for. */
  readonly nesting?: readonly CompiledSelector[] | undefined;
  /** Whether it stands in a scope. */
  readonly isScoped?: boolean;
}

/**
 * What a selector begins at that does not say so: the rule around it or its scope; nothing; or what `:has()` is asked
 * of.
 */
export type Start = "around" | "anywhere" | { element: Element | undefined };

/** What is known of a selector while it is read. */
export interface Reading {
  readonly context: SelectorContext;
  /** Of how many parentheses it stands in. */
  readonly level: number;
  /** Of the deepest selector in it. */
  depth: number;
  specificity: number;
  isNever: boolean;
  /** Whether it says itself what it is relative to. */
  namesNesting: boolean;
  namesScope: boolean;
  target: Target | undefined;
  /** Reads a selector that stands in its parentheses. */
  readonly inner: (selector: CssNode, start: Start, context?: SelectorContext) => CompiledSelector | undefined;
}

export interface Part extends Compound {
  readonly tests: Test[];
  readonly nodes: CssNode[];
  ofHost: Compound["ofHost"];
  combinator: Combinator | undefined;
}

// What counts in a specificity.
export const ID = 2 ** 32;
export const CLASS = 2 ** 16;
export const NAME = 1;
export const never: Test = () => false;

export const highest = (selectors: readonly CompiledSelector[]): number =>
  selectors.reduce((max, { specificity }) => Math.max(max, specificity), 0);

export const anyOf =
  (selectors: readonly CompiledSelector[]): Test =>
  (element, scope) =>
    selectors.some(({ matches, isNever, target }) => !isNever && target === undefined && matches(element, scope));
