import type { CssNode } from "css-tree/dist/csstree.esm";
import { PageTooComplexError } from "../page-too-complex-error.ts";
import { ancestorsOf, type Element, textOf } from "../tree/dom.ts";
import { compileSelectors, isKnownSelector } from "./compile-selectors.ts";
import type { CompiledSelector, SelectorContext, SelectorPage } from "./compiled-selector.ts";
import { type ContainerCondition, containerCondition, featuresHold, mediaHoldsIn } from "./css-conditions.ts";
import { parseCss, textOfNode } from "./css-text.ts";
import { type ElementNames, isUnused, namesOf } from "./element-names.ts";
import { type Layer, layerIn, newLayer, rankLayers } from "./layers.ts";
import { isRelevant } from "./longhands.ts";
import { type Prelude, readSheet, type SheetVisitor, type WrittenDeclaration } from "./read-sheet.ts";
import { steps } from "./style-budget.ts";
import { parentOf, type StyledTree } from "./trees.ts";

/** Of all sheets of a page, and of all its style attributes. */
export const MAX_SHEET_CHARACTERS = 2_000_000;
/** So many rules may stand in each other. */
const MAX_NESTING = 100;
/** Of the name of a layer. */
const MAX_NAME_PARTS = 20;

/** The part of a tree that rules are for. */
export interface Scope {
  /** What it begins at; the element around the sheet if there are none. */
  readonly roots: readonly CompiledSelector[] | undefined;
  readonly owner: Element | undefined;
  /** What it ends before. */
  readonly limits: readonly CompiledSelector[];
  readonly outer: Scope | undefined;
}

/** Declarations that apply where one of the selectors does. */
export interface Rule {
  readonly selectors: readonly CompiledSelector[];
  readonly declarations: readonly WrittenDeclaration[];
  readonly tree: StyledTree;
  readonly layer: Layer;
  readonly scope: Scope | undefined;
  /** What is asked of containers around an element. */
  readonly containers: readonly ContainerCondition[];
}

export interface CollectRulesOptions {
  readonly all: readonly Element[];
  /** The elements whose styles are asked for. */
  readonly subjects: readonly Element[];
  readonly treeOf: (element: Element) => StyledTree | undefined;
  readonly page: SelectorPage;
}

/** Where a rule stands. */
interface Place extends Omit<Rule, "selectors" | "declarations"> {
  readonly selectors: readonly CompiledSelector[] | undefined;
  readonly depth: number;
  /** The element that holds the sheet. */
  readonly style: Element;
  /** Whether it is for readers without scripts. */
  readonly isFallback: boolean;
}

/**
 * The rules of a page's sheets that say something of interest of the elements that are asked for, in their order, with
 * their layers ranked.
 */
export function collectRules({ all, subjects, treeOf, page }: CollectRulesOptions): {
  readonly rules: readonly Rule[];
  readonly highestRank: number;
} {
  const rules: Rule[] = [];
  const layers = new Map<StyledTree, Layer>();
  let names: ElementNames | undefined;
  let left = MAX_SHEET_CHARACTERS;
  for (const style of all) {
    if (style.name !== "style" || !isSheet(style)) continue;
    const tree = treeOf(style);
    if (tree === undefined) continue;
    const text = textOf(style);
    left -= text.length;
    if (left < 0) throw new PageTooComplexError("more styles than can be read");
    names ??= { all: namesOf(all), subjects: namesOf(subjects) };
    const layer = layers.get(tree) ?? newLayer();
    layers.set(tree, layer);
    const isFallback = [...ancestorsOf(style)].some(({ name }) => name === "noscript");
    const place: Place = {
      isFallback,
      tree,
      layer,
      scope: undefined,
      containers: [],
      selectors: undefined,
      depth: 0,
      style,
    };
    readSheet(text, place, new RuleCollector(rules, names, page));
  }
  return {
    rules,
    highestRank: [...layers.values()].reduce((highest, layer) => Math.max(highest, rankLayers(layer)), 0),
  };
}

class RuleCollector implements SheetVisitor<Place> {
  readonly #rules: Rule[];
  readonly #names: ElementNames;
  readonly #page: SelectorPage;

  constructor(rules: Rule[], names: ElementNames, page: SelectorPage) {
    this.#rules = rules;
    this.#names = names;
    this.#page = page;
  }

  rule({ text, outline }: Prelude, around: Place): Place | undefined {
    if (around.selectors === undefined && around.scope === undefined && isUnused(outline, this.#names))
      return undefined;
    const selectors = compileSelectors(text, this.#contextOf(around));
    return selectors?.some(({ isNever }) => !isNever) === true ? within(around, { selectors }) : undefined;
  }

  atRule(name: string, prelude: string, around: Place, hasBlock: boolean): Place | undefined {
    this.#page.budget.spend(steps.condition + steps.selector * prelude.length);
    if (name === "layer") return this.#layer(prelude, around, hasBlock);
    if (!hasBlock) return undefined;
    switch (name) {
      case "media":
        return mediaHoldsIn(prelude) ? within(around) : undefined;
      case "supports":
        return featuresHold(prelude, (selector) => isKnownSelector(selector, this.#contextOf(around)))
          ? within(around)
          : undefined;
      case "container": {
        const condition = containerCondition(prelude);
        return condition === undefined ? undefined : within(around, { containers: [...around.containers, condition] });
      }
      case "scope":
        return this.#scope(prelude, around);
      default:
        return undefined;
    }
  }

  declarations(
    written: readonly WrittenDeclaration[],
    { selectors, isFallback, tree, layer, scope, containers }: Place,
  ): void {
    const declarations = written.filter(
      (declaration) => isRelevant(declaration.name) && !(isFallback && hides(declaration)),
    );
    if (declarations.length === 0) return;
    const own =
      selectors ??
      (scope === undefined
        ? undefined
        : compileSelectors(":where(:scope)", { page: this.#page, host: tree.host, isScoped: true }));
    if (own !== undefined) this.#rules.push({ selectors: own, declarations, tree, layer, scope, containers });
  }

  #contextOf({ tree, selectors, scope }: Place): SelectorContext {
    return { page: this.#page, host: tree.host, nesting: selectors, isScoped: scope !== undefined };
  }

  #layer(prelude: string, around: Place, hasBlock: boolean): Place | undefined {
    if (prelude === "") return hasBlock ? within(around, { layer: layerIn(around.layer, undefined) }) : undefined;
    const list = listIn(parseCss<CssNode>(prelude, { context: "atrulePrelude", atrule: "layer" }), "LayerList");
    if (list === undefined || (hasBlock && list.length > 1)) return undefined;
    const named = list.map((layer) => (layer as unknown as { readonly name: string }).name);
    if (named.some((name) => name.split(".").length > MAX_NAME_PARTS))
      throw new PageTooComplexError("more styles than can be read");
    const layers = named.map((name) => layerIn(around.layer, name));
    return hasBlock && layers[0] !== undefined ? within(around, { layer: layers[0] }) : undefined;
  }

  #scope(prelude: string, around: Place): Place | undefined {
    const parsed = parseCss<CssNode>(prelude, { context: "atrulePrelude", atrule: "scope" });
    const node =
      parsed?.type === "AtrulePrelude"
        ? (parsed.children.first as unknown as { readonly root: CssNode | null; readonly limit: CssNode | null })
        : undefined;
    if (node === undefined) return undefined;
    const roots = node.root === null ? undefined : compileSelectors(textOfNode(node.root), this.#contextOf(around));
    const limits =
      node.limit === null
        ? []
        : compileSelectors(textOfNode(node.limit), { page: this.#page, host: around.tree.host, isScoped: true });
    if ((node.root !== null && roots === undefined) || limits === undefined) return undefined;
    return within(around, {
      scope: { roots, owner: parentOf(around.style), limits, outer: around.scope },
      selectors: undefined,
    });
  }
}

function within(around: Place, more: Partial<Place> = {}): Place {
  if (around.depth >= MAX_NESTING) throw new PageTooComplexError("more styles than can be read");
  return { ...around, ...more, depth: around.depth + 1 };
}

function listIn(prelude: CssNode | undefined, type: string): CssNode[] | undefined {
  const list =
    prelude?.type === "AtrulePrelude"
      ? (prelude.children.first as unknown as { readonly type: string; readonly children: Iterable<CssNode> } | null)
      : undefined;
  return list?.type === type ? [...list.children] : undefined;
}

/** Whether a browser takes a `style` element for a sheet, and on a screen. */
function isSheet(element: Element): boolean {
  if (!/^(?:text\/css)?$/i.test(element.attribs["type"] ?? "") || !mediaHoldsIn(element.attribs["media"] ?? ""))
    return false;
  let isFormula: boolean | undefined;
  for (const { name } of ancestorsOf(element)) {
    if (inert.has(name)) return false;
    if (name === "math" || textHolders.has(name)) isFormula ??= name === "math";
  }
  return isFormula !== true;
}
/** What holds text for a browser, or nothing of the page. */
const inert: ReadonlySet<string> = new Set(["iframe", "noframes", "template"]);
/** What holds HTML in a formula. */
const textHolders: ReadonlySet<string> = new Set(["annotation-xml", "mi", "mn", "mo", "ms", "mtext"]);

/**
 * In a sheet for readers without scripts, what shows something shows what the page's scripts do; what hides is of use
 * with scripts only, and others see it.
 */
const hides = ({ name, value }: WrittenDeclaration): boolean => hiding.test(`${name}:${value}`);
const hiding = /^(?:display:none|(?:content-)?visibility:(?:hidden|collapse)|opacity:[0.]+%?)(?:\s*!|$)/i;
