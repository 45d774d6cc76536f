import { type CssNode, lexer } from "css-tree/dist/csstree.esm";
import { TextMemo } from "../text-memo.ts";
import { parseCss } from "./css-text.ts";
import { pixels } from "./css-values.ts";

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
};
const WORDS: Readonly<Record<string, string>> = {
  ...{ orientation: "landscape", "prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference", "prefers-contrast": "no-preference" },
  ...{
    hover: "hover",
    "any-hover": "hover",
    pointer: "fine",
    "any-pointer": "fine",
    scripting: "enabled",
    "forced-colors": "none",
    "inverted-colors": "none",
    "dynamic-range": "standard",
    "display-mode": "browser",
    update: "fast",
  },
};

/** Whether an at-rule's condition, or a list of media, holds on a computer's screen. What nobody knows does not, as in browsers. */
export function holds(prelude: CssNode | null): boolean {
  if (prelude === null) return true;
  if (prelude.type === "MediaQueryList" || prelude.type === "AtrulePrelude") return prelude.children.isEmpty || prelude.children.some((part) => holds(part));
  if (prelude.type === "MediaQuery") return mediaHolds(prelude as MediaQuery);
  return truthOf(prelude) === true;
}

/** @param text of a `media` attribute */
export const mediaHoldsIn = (text: string): boolean =>
  media.of(text, (own) => {
    const list = parseCss(own, { context: "mediaQueryList" });
    return list !== undefined && holds(list);
  });

const media = new TextMemo<boolean>({ maxTexts: 1_000, maxLength: 200 });

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
function truthOf(node: CssNode): boolean | undefined {
  const any = node as unknown as { type: string; [name: string]: unknown };
  switch (any.type) {
    case "Condition":
      return conditionTruth(node as unknown as { children: Iterable<CssNode> });
    case "Feature":
      return featureTruth(String(any["name"]).toLowerCase(), any["value"] as CssNode | null);
    case "FeatureRange":
      return rangeTruth(any as unknown as FeatureRange);
    case "SupportsDeclaration":
      return lexer.matchDeclaration(any["declaration"] as CssNode).error === null;
    default:
      return undefined;
  }
}

function conditionTruth({ children }: { readonly children: Iterable<CssNode> }): boolean | undefined {
  let truth: boolean | undefined = true;
  let isFirst = true;
  let word = "and";
  let isNegated = false;
  for (const child of children) {
    if (child.type === "Identifier") {
      if (child.name.toLowerCase() === "not") isNegated = true;
      else if (!isFirst) word = child.name.toLowerCase();
      else return undefined; // the name of a container, of which nothing is known
      continue;
    }
    const own = truthOf(child);
    const counted: boolean | undefined = own === undefined ? undefined : own !== isNegated;
    isNegated = false;
    if (isFirst) truth = counted;
    else if (word === "or") truth = truth === true || counted === true ? true : truth === undefined || counted === undefined ? undefined : false;
    else truth = truth === false || counted === false ? false : truth === undefined || counted === undefined ? undefined : true;
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
  return value === null ? word !== "no-preference" && word !== "none" : value.type === "Identifier" && value.name.toLowerCase() === word;
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
  return comparison === "<" ? a < b : comparison === "<=" ? a <= b : comparison === ">" ? a > b : comparison === ">=" ? a >= b : a === b;
}

function lengthOf(node: CssNode): number | undefined {
  if (node.type === "Identifier") return SCREEN[node.name.toLowerCase()];
  const length = node.type === "Dimension" ? pixels(`${node.value}${node.unit}`) : node.type === "Number" ? Number(node.value) : Number.NaN;
  return Number.isNaN(length) ? undefined : length;
}
