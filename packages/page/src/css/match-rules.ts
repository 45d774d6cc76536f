import { type Element, isElement } from "../tree/dom.ts";
import { shadowRootOf, slottedIn } from "../tree/shadow-roots.ts";
import type { Rule, Scope } from "./collect-rules.ts";
import type { CompiledSelector, SelectorPage, Target } from "./compiled-selector.ts";
import { candidatesIn } from "./selector-candidates.ts";
import { type StyleBudget, steps } from "./style-budget.ts";
import { parentOf, type StyledTree } from "./trees.ts";

/** The elements that a selector of a rule is about, by how many elements lie between their scope and them. */
export type MatchingElements = (selector: CompiledSelector, rule: Rule) => ReadonlyMap<number, readonly Element[]>;

export interface MatchingOptions {
  readonly elements: readonly Element[];
  readonly treeOf: (element: Element) => StyledTree | undefined;
  readonly page: SelectorPage;
}

/** Finds which elements of a page selectors are about. */
export function matchingOn(options: MatchingOptions): MatchingElements {
  const { elements, treeOf, page } = options;
  const byTree = Map.groupBy(elements, treeOf);
  const asked = new Set(elements);
  const candidates = new Map<StyledTree, ReturnType<typeof candidatesIn>>();
  const slotted = new Map<StyledTree, readonly Reached[]>();
  return (selector, { tree, scope }) => {
    const { target } = selector;
    const found = new Map<number, Element[]>();
    const add = (element: Element, distance: number): void => {
      page.budget.spend(steps.kept);
      const known = found.get(distance);
      if (known === undefined) found.set(distance, [element]);
      else known.push(element);
    };
    if (target !== undefined) {
      for (const { element, way } of reachedBy(target, tree))
        if (selector.matches(way, undefined)) add(element, UNSCOPED);
      return found;
    }
    for (const element of candidatesOf(selector, tree)) {
      const distance =
        scope !== undefined
          ? distanceIn(scope, element, tree, selector, page.budget)
          : selector.matches(element, undefined)
            ? UNSCOPED
            : undefined;
      if (distance !== undefined) add(element, distance);
    }
    return found;
  };

  function reachedBy(target: Target, tree: StyledTree): readonly Reached[] {
    if (target.kind === "part") return partsIn(tree, target.names, byTree, options);
    const inSlots = slotted.get(tree) ?? inSlotsOf(tree, asked);
    slotted.set(tree, inSlots);
    return inSlots.filter(({ element }) => target.inner.matches(element, undefined));
  }

  function candidatesOf({ key, ofHost }: CompiledSelector, tree: StyledTree): readonly Element[] {
    const hosts = ofHost !== "never" && tree.host !== undefined && asked.has(tree.host) ? [tree.host] : [];
    if (ofHost === "always") return hosts;
    let ofKey = candidates.get(tree);
    if (ofKey === undefined) {
      ofKey = candidatesIn(byTree.get(tree) ?? [], page.isQuirky);
      candidates.set(tree, ofKey);
    }
    return hosts.length === 0 ? ofKey(key) : [...hosts, ...ofKey(key)];
  }
}

/** An element, and what leads a selector to it. */
interface Reached {
  readonly element: Element;
  readonly way: Element;
}

/** Parts of shadow trees whose hosts stand in `tree`. */
function partsIn(
  tree: StyledTree,
  names: readonly string[],
  byTree: ReadonlyMap<StyledTree | undefined, readonly Element[]>,
  { treeOf, page }: MatchingOptions,
): Reached[] {
  return [...byTree].flatMap(([inner, elements]) => {
    const { host } = inner ?? {};
    page.budget.spend(elements.length);
    if (host === undefined || treeOf(host) !== tree) return [];
    const named = elements.filter(({ attribs: { part } }) => {
      if (part === undefined) return false;
      page.budget.spend(part.length + names.length);
      const own = new Set(part.split(/\s+/));
      return names.every((name) => own.has(name));
    });
    return named.map((element) => ({ element, way: host }));
  });
}

/** What stands in slots of a tree. */
function inSlotsOf({ host }: StyledTree, asked: ReadonlySet<Element>): Reached[] {
  const root = host === undefined ? undefined : shadowRootOf(host);
  if (host === undefined || root === undefined) return [];
  return [...slottedIn(host, root)].flatMap(([way, nodes]) =>
    nodes.flatMap((element) => (isElement(element) && asked.has(element) ? [{ element, way }] : [])),
  );
}

const UNSCOPED = Number.POSITIVE_INFINITY;

/** How far the nearest root of a scope is in which a selector is about an element. */
function distanceIn(
  scope: Scope,
  element: Element,
  tree: StyledTree,
  selector: CompiledSelector,
  budget: StyleBudget,
): number | undefined {
  for (const { root, distance } of rootsAround(scope, element, tree, budget))
    if (selector.matches(element, root)) return distance;
  return undefined;
}

/** The roots of a scope that an element is in, the nearest first. */
function* rootsAround(
  scope: Scope,
  element: Element,
  tree: StyledTree,
  budget: StyleBudget,
): Generator<{ readonly root: Element; readonly distance: number }> {
  const path: Element[] = [];
  for (let at: Element | undefined = element; at !== undefined; at = at === tree.host ? undefined : parentOf(at)) {
    const root = at;
    path.push(root);
    budget.spend(1);
    if (!isRootOf(scope, root, tree, budget)) continue;
    if (!scope.limits.some(({ matches }) => path.some((inner) => matches(inner, root))))
      yield { root, distance: path.length - 1 };
  }
}

function isRootOf({ roots, owner, outer }: Scope, element: Element, tree: StyledTree, budget: StyleBudget): boolean {
  const isRoot = (scope: Element | undefined): boolean =>
    roots === undefined ? element === owner : roots.some(({ matches, isNever }) => !isNever && matches(element, scope));
  if (outer === undefined) return isRoot(undefined);
  for (const { root } of rootsAround(outer, element, tree, budget)) if (isRoot(root)) return true;
  return false;
}
