import {
  type AttributeSelector,
  type ClassSelector,
  type CssNode,
  type IdSelector,
  ident,
  type PseudoClassSelector,
  type PseudoElementSelector,
  type Selector,
  type SelectorList,
  type TypeSelector,
} from "css-tree/dist/csstree.esm";
import { PageTooComplexError } from "../page-too-complex-error.ts";
import { folded } from "../tree/quirks.ts";
import {
  anyOf,
  type CompiledSelector,
  highest,
  type Part,
  type Reading,
  type SelectorContext,
  type Start,
} from "./compiled-selector.ts";
import { parseCss } from "./css-text.ts";
import { type Chain, type Combinator, matchesChain, type Test } from "./match-chain.ts";
import { pseudoClassTest, pseudoElementTest, scopeTest } from "./pseudo-tests.ts";
import { attributeTest, classTest, idTest, typeTest } from "./simple-tests.ts";
import { steps } from "./style-budget.ts";

/** Each recurses when a selector is matched, or read. */
const MAX_COMPOUNDS = 500;
const MAX_PARENTHESES = 100;

/** The selectors of a list, each by itself; undefined where a browser does not know one of them, and so none. */
export function compileSelectors(text: string, context: SelectorContext): readonly CompiledSelector[] | undefined {
  context.page.budget.spend(steps.selector * text.length);
  if (/,\s*$/.test(text)) return undefined;
  const list = parseCss<SelectorList>(text, { context: "selectorList" }) ?? parseForgiving(text);
  const compiled = list?.children.toArray().map((selector) => compile(selector, context, "around"));
  return compiled?.every((selector) => selector !== undefined) === true ? compiled : undefined;
}

/** Whether a browser knows a selector. */
export const isKnownSelector = (selector: CssNode, context: SelectorContext): boolean =>
  compile(selector, context, "anywhere") !== undefined;

/** css-tree reads no list in `:is()` of which it does not know a part. Browsers leave that part out. */
function parseForgiving(text: string): SelectorList | undefined {
  if (text.length > 2_000 || !/:(?:is|where)\(/i.test(text)) return undefined;
  const forgiven = text.replaceAll(/(:(?:is|where)\()([^()]*)(?=\))/gi, (_, begin: string, list: string) => {
    const known = list.split(",").filter((part) => parseCss(part, { context: "selector" }) !== undefined);
    return `${begin}${known.join(",")}`;
  });
  return parseCss<SelectorList>(forgiven, { context: "selectorList" });
}

/** Undefined for what no browser knows. `outer` is what the selector stands in parentheses of. */
function compile(
  selector: CssNode,
  context: SelectorContext,
  start: Start,
  outer?: Reading,
): CompiledSelector | undefined {
  if (selector.type !== "Selector") return undefined;
  const level = outer === undefined ? 0 : outer.level + 1;
  if (level > MAX_PARENTHESES) throw new PageTooComplexError("more styles than can be read");
  const reading: Reading = {
    ...{
      context,
      level,
      depth: deepest(context.nesting ?? []),
      specificity: 0,
      isNever: false,
      namesNesting: false,
      namesScope: false,
      target: undefined,
    },
    inner: (inside, at, other = context) => compile(inside, other, at, reading),
  };
  const parts = partsOf(selector, reading);
  const [first] = parts ?? [];
  if (parts === undefined || first === undefined || (outer !== undefined && parts.some(hasElement))) return undefined;
  const depth = parts.length + reading.depth;
  if (depth > MAX_COMPOUNDS) throw new PageTooComplexError("more styles than can be read");
  const leading = first.combinator;
  const implied = impliedBefore(leading, start, reading);
  if (implied === "invalid") return undefined;
  if (implied !== undefined) {
    first.combinator = leading ?? " ";
    parts.unshift(implied);
  }
  if (outer !== undefined) {
    outer.namesNesting ||= reading.namesNesting;
    outer.namesScope ||= reading.namesScope;
    outer.depth = Math.max(outer.depth, depth);
  }
  const chain: Chain = parts.reverse();
  const last = parts[0] as Part;
  return {
    specificity: reading.specificity,
    depth,
    isNever: reading.isNever,
    key: keyOf(last.nodes, context),
    ofHost: last.ofHost,
    leading,
    isLong: parts.length > 2,
    isSingle: parts.length === 1,
    target: reading.target,
    matches: (element, scope) =>
      matchesChain(chain, element, scope, { host: context.host, budget: context.page.budget }),
  };
}

const deepest = (selectors: readonly CompiledSelector[]): number =>
  selectors.reduce((max, { depth }) => Math.max(max, depth), 0);

/** The compounds of a selector from left to right, the first with the combinator before it, if there is one. */
function partsOf({ children }: Selector, reading: Reading): Part[] | undefined {
  const parts: Part[] = [];
  let combinator: Combinator | undefined;
  let part: Part | undefined;
  for (const node of children) {
    if (node.type === "Combinator") {
      if (combinator !== undefined || !/^[ >+~]$/.test(node.name) || (part !== undefined && hasElement(part)))
        return undefined;
      combinator = node.name as Combinator;
      part = undefined;
      continue;
    }
    if (part === undefined) {
      part = { tests: [], nodes: [], ofHost: "never", combinator };
      combinator = undefined;
      parts.push(part);
    }
    const test = testOf(node, part, reading);
    if (test === undefined) return undefined;
    part.nodes.push(node);
    part.tests.push(test);
  }
  return combinator === undefined ? parts : undefined;
}

const hasElement = ({ nodes }: Part): boolean => nodes.some(({ type }) => type === "PseudoElementSelector");

/** What a selector begins with that does not say so itself. */
function impliedBefore(leading: Combinator | undefined, start: Start, reading: Reading): Part | "invalid" | undefined {
  const { nesting, isScoped = false } = reading.context;
  const part = (test: Test): Part => ({ tests: [test], nodes: [], ofHost: "sometimes", combinator: undefined });
  if (typeof start === "object") return part((element) => element === start.element);
  if (start === "anywhere" || (nesting === undefined && !isScoped))
    return leading === undefined ? undefined : "invalid";
  if (leading === undefined && (nesting === undefined ? reading.namesScope : reading.namesNesting)) return undefined;
  if (nesting === undefined) return part((element, scope) => element === scope);
  reading.specificity += highest(nesting);
  return part(anyOf(nesting));
}

/** What only elements can be about which a compound is. */
function keyOf(nodes: readonly CssNode[], { page: { isQuirky }, host }: SelectorContext): string | undefined {
  let key: string | undefined;
  for (const node of nodes) {
    if (node.type === "AttributeSelector") key ??= `[${ident.decode(node.name.name).split("|").at(-1)?.toLowerCase()}`;
    else if (node.type === "PseudoClassSelector" && host === undefined && node.name.toLowerCase() === "root")
      key ??= "html";
    else if (node.type === "IdSelector") key = `#${folded(ident.decode(node.name), isQuirky)}`;
    else if (node.type === "ClassSelector" && !key?.startsWith("#"))
      key = `.${folded(ident.decode(node.name), isQuirky)}`;
    else if (node.type === "TypeSelector" && (key === undefined || key.startsWith("["))) {
      const name = node.name.split("|").at(-1) ?? "";
      if (name !== "*") key = ident.decode(name).toLowerCase();
    }
  }
  return key;
}

/** Undefined for what no browser knows. */
function testOf(node: CssNode, part: Part, reading: Reading): Test | undefined {
  const { nesting } = reading.context;
  const before = part.nodes.at(-1)?.type as string | undefined;
  if (
    before === "PseudoElementSelector" &&
    node.type !== "PseudoClassSelector" &&
    node.type !== "PseudoElementSelector"
  )
    return undefined;
  switch (node.type as string) {
    case "IdSelector":
      return idTest(node as IdSelector, reading);
    case "ClassSelector":
      return classTest(node as ClassSelector, reading);
    case "AttributeSelector":
      return attributeTest(node as AttributeSelector, reading);
    case "PseudoClassSelector":
      return pseudoClassTest(node as PseudoClassSelector, part, reading);
    case "PseudoElementSelector":
      return pseudoElementTest(node as PseudoElementSelector, reading);
    case "NestingSelector":
      reading.namesNesting = true;
      reading.namesScope = true;
      if (part.ofHost === "never") part.ofHost = "sometimes";
      if (nesting === undefined) return scopeTest(reading.context);
      reading.specificity += highest(nesting);
      return anyOf(nesting);
    case "TypeSelector":
      return before === undefined || before === "NestingSelector"
        ? typeTest((node as TypeSelector).name, reading)
        : undefined;
    default:
      return undefined;
  }
}
