import type { Element } from "../tree/dom.ts";
import type { StyleBudget } from "./style-budget.ts";
import { elementBefore, parentOf } from "./trees.ts";

/** @param scope what `:scope` means */
export type Test = (element: Element, scope: Element | undefined) => boolean;

/** What stands between combinators. */
export interface Compound {
  readonly tests: readonly Test[];
  /** Whether it may be of the host of the tree, and of the host only: other selectors know nothing of that. */
  readonly ofHost: "always" | "never" | "sometimes";
}

/** Compounds from right to left, each with the combinator on its left. */
export type Chain = readonly (Compound & { readonly combinator: Combinator | undefined })[];
export type Combinator = " " | ">" | "+" | "~";

/**
 * Why a chain does not match: only at this element, at none of its siblings before it, or at nothing around it either.
 */
type Outcome = "yes" | "not here" | "no sibling" | "nowhere";

export interface ChainOptions {
  readonly host: Element | undefined;
  readonly budget: StyleBudget;
}

/**
 * Tells whether a chain matches an element. An outcome ends the search as far as it can: a chain of descendants tries
 * each ancestor once.
 */
export function matchesChain(
  chain: Chain,
  element: Element,
  scope: Element | undefined,
  { host, budget }: ChainOptions,
): boolean {
  return outcomeAt(0, element) === "yes";

  function outcomeAt(i: number, at: Element): Outcome {
    budget.spend(1);
    const compound = chain[i] as Chain[number];
    if (at === host ? compound.ofHost === "never" : compound.ofHost === "always") return "not here";
    for (const test of compound.tests) if (!test(at, scope)) return "not here";
    switch (compound.combinator) {
      case undefined:
        return "yes";
      case " ":
        return outcomeAbove(i + 1, at);
      case ">": {
        const parent = at === host ? undefined : parentOf(at);
        const outcome = parent === undefined ? "nowhere" : outcomeAt(i + 1, parent);
        return outcome === "not here" ? "no sibling" : outcome; // siblings have the same parent
      }
      case "+": {
        const before = at === host ? undefined : elementBefore(at, budget);
        return before === undefined ? "no sibling" : outcomeAt(i + 1, before);
      }
      case "~":
        return outcomeBefore(i + 1, at);
    }
  }

  function outcomeAbove(i: number, below: Element): Outcome {
    for (
      let at = below === host ? undefined : parentOf(below);
      at !== undefined;
      at = at === host ? undefined : parentOf(at)
    ) {
      const outcome = outcomeAt(i, at);
      if (outcome === "yes" || outcome === "nowhere") return outcome;
    }
    return "nowhere";
  }

  function outcomeBefore(i: number, behind: Element): Outcome {
    for (
      let at = behind === host ? undefined : elementBefore(behind, budget);
      at !== undefined;
      at = elementBefore(at, budget)
    ) {
      const outcome = outcomeAt(i, at);
      if (outcome !== "not here") return outcome;
    }
    return "no sibling";
  }
}
