import { type CssNode, type Declaration, lexer } from "css-tree/dist/csstree.esm";
import { TextMemo } from "../text-memo.ts";
import { attempt, parseCss, textOfNode } from "./css-text.ts";
import { pixels } from "./css-values.ts";
import { isForeign } from "./vendors.ts";

/** The screen that pages are looked at on. */
const SCREEN: Readonly<Record<string, number>> = {
  width: 1280,
  height: 800,
  "inline-size": 1280,
  "block-size": 800,
  "device-width": 1280,
  "device-height": 800,
  color: 8,
  "color-index": 0,
  monochrome: 0,
  grid: 0,
  "-webkit-device-pixel-ratio": 1,
  "-webkit-transform-3d": 1,
  "aspect-ratio": 1.6,
  "device-aspect-ratio": 1.6,
  resolution: 1,
  "horizontal-viewport-segments": 1,
  "vertical-viewport-segments": 1,
};
const WORDS: Readonly<Record<string, string>> = {
  ...{
    orientation: "landscape",
    "prefers-color-scheme": "light",
    "prefers-reduced-motion": "no-preference",
    "prefers-contrast": "no-preference",
  },
  ...{
    hover: "hover",
    "any-hover": "hover",
    pointer: "fine",
    "any-pointer": "fine",
    scripting: "enabled",
    "forced-colors": "none",
    "dynamic-range": "standard",
    "display-mode": "browser",
    update: "fast",
    "color-gamut": "srgb",
    "overflow-block": "scroll",
    "overflow-inline": "scroll",
    "prefers-reduced-transparency": "no-preference",
    "device-posture": "continuous",
  },
};

/**
 * Whether a list of media, of an at-rule or an attribute, holds on a computer's screen. What nobody knows does not, as
 * in browsers, and says nothing of the others.
 */
export const mediaHoldsIn = (text: string): boolean =>
  text.trim() === "" || queriesIn(text).some((query) => media.of(query, readMedia));

/** The parts between commas outside of brackets. */
function queriesIn(text: string): string[] {
  if (!text.includes(",")) return [text];
  const queries: string[] = [];
  let start = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "(") depth++;
    else if (text[i] === ")") depth--;
    else if (text[i] === "," && depth === 0) {
      queries.push(text.slice(start, i));
      start = i + 1;
    }
  }
  return [...queries, text.slice(start)];
}

const media = new TextMemo<boolean>({ maxTexts: 1_000, maxLength: 200 });

function readMedia(text: string): boolean {
  const list = parseCss<CssNode>(text, { context: "mediaQueryList" });
  return (
    list?.type === "MediaQueryList" &&
    list.children.some((query) => query.type === "MediaQuery" && mediaHolds(query as MediaQuery))
  );
}

/** Whether a condition of `@supports` holds. */
export function featuresHold(prelude: string, isKnown: (selector: CssNode) => boolean): boolean {
  const condition = conditionIn(prelude, "supports");
  return condition !== undefined && truthOf(condition, isKnown) === true;
}

/** What `@container` asks. */
export interface ContainerCondition {
  /** Of the container; undefined for any. */
  readonly name: string | undefined;
  /** As if each container were as large as the screen. */
  readonly holds: boolean;
}

export function containerCondition(prelude: string): ContainerCondition | undefined {
  const condition = conditionIn(prelude, "container");
  if (condition === undefined) return undefined;
  const [, name] = /^(?!not\b)([\w-]+)\s/i.exec(prelude) ?? [];
  return { name: name?.toLowerCase(), holds: truthOf(condition) === true };
}

function conditionIn(prelude: string, atrule: string): CssNode | undefined {
  const parsed = parseCss<CssNode>(prelude, { context: "atrulePrelude", atrule });
  return parsed?.type === "AtrulePrelude"
    ? parsed.children.toArray().find(({ type }) => type === "Condition")
    : undefined;
}

interface MediaQuery {
  readonly modifier: string | null;
  readonly mediaType: string | null;
  readonly condition: CssNode | null;
}

function mediaHolds({ modifier, mediaType, condition }: MediaQuery): boolean {
  const truth = condition === null ? true : truthOf(condition);
  if (truth === undefined) return false;
  const all = truth && /^(?:all|screen)$/i.test(mediaType ?? "all");
  return modifier?.toLowerCase() === "not" ? !all : all;
}

/** Undefined for what is not known, which stays so when it is negated. */
function truthOf(node: CssNode, isKnown?: (selector: CssNode) => boolean): boolean | undefined {
  const any = node as unknown as { type: string; [name: string]: unknown };
  switch (any.type) {
    case "Condition":
      return conditionTruth(node as unknown as { children: Iterable<CssNode> }, isKnown);
    case "Feature":
      return featureTruth(String(any["name"]).toLowerCase(), any["value"] as CssNode | null);
    case "FeatureRange":
      return rangeTruth(any as unknown as FeatureRange);
    case "SupportsDeclaration":
      return isSupported(any["declaration"] as Declaration);
    case "FeatureFunction":
      return isKnown === undefined || any["feature"] !== "selector" ? undefined : isKnown(any["value"] as CssNode);
    case "GeneralEnclosed":
      return any["kind"] === "supports" && fonts.test(textOfNode(node)) ? true : undefined;
    default:
      return undefined;
  }
}

const fonts =
  /^font-(?:format\((?:collection|opentype|truetype|woff2?)\)|tech\((?:color-(?:cbdt|colrv[01]|sbix)|features-(?:aat|opentype)|palettes|variations)\))$/i;

function isSupported(declaration: Declaration): boolean {
  const { property, value } = declaration;
  if (property.startsWith("--")) return true;
  const text = textOfNode(value).toLowerCase();
  if (isForeign(property.toLowerCase(), text)) return false;
  // What these give is known later only.
  if (/(?:^|[^\w-])(?:var|env)\(/.test(text)) return lexer.getProperty(property) !== null;
  return attempt(() => lexer.matchDeclaration(declaration).error === null) === true;
}

function conditionTruth(
  { children }: { readonly children: Iterable<CssNode> },
  isKnown?: (selector: CssNode) => boolean,
): boolean | undefined {
  let truth: boolean | undefined = true;
  let isFirst = true;
  let word = "and";
  let isNegated = false;
  for (const child of children) {
    if (child.type === "Identifier") {
      if (child.name.toLowerCase() === "not") isNegated = true;
      else if (!isFirst) word = child.name.toLowerCase();
      else return undefined;
      continue;
    }
    const own = truthOf(child, isKnown);
    const counted: boolean | undefined = own === undefined ? undefined : own !== isNegated;
    isNegated = false;
    if (isFirst) truth = counted;
    else if (word === "or")
      truth =
        truth === true || counted === true ? true : truth === undefined || counted === undefined ? undefined : false;
    else
      truth =
        truth === false || counted === false ? false : truth === undefined || counted === undefined ? undefined : true;
    isFirst = false;
  }
  return truth;
}

function featureTruth(name: string, value: CssNode | null): boolean | undefined {
  const [, prefix = "", bound, plain = name] = /^(-webkit-)?(min-|max-)(.*)$/.exec(name) ?? [];
  const size = SCREEN[prefix + plain];
  if (size !== undefined) {
    if (value === null) return size > 0;
    const asked = lengthOf(value);
    if (asked === undefined) return undefined;
    return bound === "min-" ? size >= asked : bound === "max-" ? size <= asked : size === asked;
  }
  const word = WORDS[name];
  if (word === undefined) return undefined;
  return value === null
    ? word !== "no-preference" && word !== "none"
    : value.type === "Identifier" && value.name.toLowerCase() === word;
}

interface FeatureRange {
  readonly left: CssNode;
  readonly leftComparison: string;
  readonly middle: CssNode;
  readonly rightComparison: string | null;
  readonly right: CssNode | null;
}

function rangeTruth({ left, leftComparison, middle, rightComparison, right }: FeatureRange): boolean | undefined {
  const first = compare(left, leftComparison, middle);
  if (right === null || rightComparison === null) return first;
  const second = compare(middle, rightComparison, right);
  return first === undefined || second === undefined ? undefined : first && second;
}

function compare(left: CssNode, comparison: string, right: CssNode): boolean | undefined {
  const [a, b] = [lengthOf(left), lengthOf(right)];
  if (a === undefined || b === undefined) return undefined;
  return comparison === "<"
    ? a < b
    : comparison === "<="
      ? a <= b
      : comparison === ">"
        ? a > b
        : comparison === ">="
          ? a >= b
          : a === b;
}

function lengthOf(node: CssNode): number | undefined {
  if (node.type === "Identifier") return SCREEN[node.name.toLowerCase()];
  if (node.type === "Ratio")
    return (
      Number((node.left as { value?: string }).value) / Number((node.right as { value?: string } | null)?.value ?? 1)
    );
  if (node.type === "Number") return Number(node.value);
  const text =
    node.type === "Dimension"
      ? `${node.value}${node.unit}`.toLowerCase()
      : node.type === "Function"
        ? textOfNode(node)
        : "";
  const [, density, unit = ""] = /^([\d.]+)(dpi|dpcm|dppx|x)$/.exec(text) ?? [];
  const length = density === undefined ? pixels(text) : Number(density) / (perPixel[unit] ?? 1);
  return Number.isNaN(length) ? undefined : length;
}

const perPixel: Readonly<Record<string, number>> = { dpi: 96, dpcm: 37.8 };
