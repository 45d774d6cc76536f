import type { CheerioAPI } from "cheerio/slim";
import { PageTooComplexError } from "../page-too-complex-error.ts";
import { ancestorsOf, type Element } from "../tree/dom.ts";
import { isQuirkyPage } from "../tree/quirks.ts";
import { bandsFor, Cascade, type DeclaredStyle } from "./cascade.ts";
import { collectRules, MAX_SHEET_CHARACTERS, type Rule } from "./collect-rules.ts";
import type { ContainerCondition } from "./css-conditions.ts";
import { type Longhand, longhandsIn, longhandsOfText } from "./longhands.ts";
import { type MatchingElements, matchingOn } from "./match-rules.ts";
import { placesOnPage } from "./place-test.ts";
import { StyleBudget, steps } from "./style-budget.ts";
import { treesOf } from "./trees.ts";

export interface DeclaredStyles {
  of(element: Element): DeclaredStyle;
  /** What may still be spent on them. */
  readonly budget: StyleBudget;
  /** Whether the page has further sheets elsewhere, which nobody reads here. */
  readonly isIncomplete: boolean;
}

/** Whose styles are read. */
export interface DeclaredStylesOptions {
  /** Whether the page's sheets count. @default true */
  readonly withSheets?: boolean;
  /** The elements whose styles are asked for. @default all */
  readonly among?: ReadonlySet<unknown> | undefined;
}

const NONE: DeclaredStyle = new Map();
const MAX_CONTAINER_WORDS = 20;

/**
 * Reads styles as a browser's first look on a computer's screen does: sheets in the page, presentational attributes,
 * and style attributes; by importance, tree, layer, specificity, scope and order. Values that are none are left out,
 * and rules for states such as hovering. Inheritance is another's matter.
 * @param all the elements of the page, in document order
 */
export function declaredStyles(
  $: CheerioAPI,
  all: readonly Element[],
  { withSheets = true, among }: DeclaredStylesOptions = {},
): DeclaredStyles {
  const elements = among === undefined ? all : all.filter((element) => among.has(element));
  const budget = new StyleBudget();
  const cascade = new Cascade(budget);
  const treeOf = treesOf(all);
  const hasSheets = withSheets && all.some(({ name }) => name === "style");
  const page = {
    isQuirky: isQuirkyPage($),
    hasScripts: all.some(({ name }) => name === "script"),
    places: placesOnPage(budget),
    classes: new Map(),
    budget,
  };
  const { rules, highestRank } = hasSheets
    ? collectRules({ all, subjects: elements, treeOf, page })
    : { rules: [], highestRank: 0 };
  const bands = bandsFor(highestRank);
  let left = MAX_SHEET_CHARACTERS;
  for (const element of elements) {
    const hints = hintsOf(element, page.isQuirky);
    if (hints !== "") cascade.say([element], longhandsOfText(hints, budget), { bandOf: bands.hints });
    const style = element.attribs["style"];
    if (style === undefined) continue;
    left -= style.length;
    if (left < 0) throw new PageTooComplexError("more styles than can be read");
    cascade.say([element], longhandsOfText(style, budget), { bandOf: bands.inline(treeOf(element)?.depth ?? 0) });
  }
  const matches = rules.length === 0 ? [] : matchesIn(rules, matchingOn({ elements, treeOf, page }), budget);
  const containers = containersIn(matches, elements, budget);
  for (const { rule, specificity, longhands, elements: matched, distance } of matches) {
    const held =
      rule.containers.length === 0
        ? matched
        : matched.filter((element) =>
            rule.containers.every((asked) => isContained(element, asked, containers, budget)),
          );
    cascade.say(held, longhands, { bandOf: bands.rule(rule.tree.depth, rule.layer.rank), specificity, distance });
  }
  const styles = cascade.styles();
  const isIncomplete = all.some(({ name, attribs }) => name === "link" && /\bstylesheet\b/i.test(attribs["rel"] ?? ""));
  return { of: (element) => styles.get(element) ?? NONE, budget, isIncomplete };
}

/** What a selector of a rule is about, as far from its scope. */
interface RuleMatch {
  readonly rule: Rule;
  readonly specificity: number;
  readonly longhands: readonly Longhand[];
  readonly elements: readonly Element[];
  readonly distance: number;
}

const matchesIn = (rules: readonly Rule[], matching: MatchingElements, budget: StyleBudget): readonly RuleMatch[] =>
  rules.flatMap((rule) => matchesOf(rule, matching, budget));

function matchesOf(rule: Rule, matching: MatchingElements, budget: StyleBudget): RuleMatch[] {
  let longhands: readonly Longhand[] | undefined;
  return rule.selectors.flatMap((selector) => {
    if (selector.isNever) return [];
    return [...matching(selector, rule)].map(([distance, elements]) => {
      longhands ??= longhandsIn(rule.declarations, budget);
      return { rule, specificity: selector.specificity, distance, longhands, elements };
    });
  });
}

/** The words that sheets and style attributes say of containers: which of them count is not asked. */
function containersIn(
  matches: readonly RuleMatch[],
  all: readonly Element[],
  budget: StyleBudget,
): ReadonlyMap<Element, ReadonlySet<string>> {
  const containers = new Map<Element, Set<string>>();
  const add = (elements: readonly Element[], longhands: readonly Longhand[]): void => {
    for (const { name, value } of longhands) {
      if (name !== "container") continue;
      const words = value.split(/[\s/]+/);
      budget.spend(words.length * elements.length);
      for (const element of elements)
        containers.set(element, new Set([...(containers.get(element) ?? []), ...words].slice(-MAX_CONTAINER_WORDS)));
    }
  };
  if (!matches.some(({ rule }) => rule.containers.length > 0)) return containers;
  for (const { elements, longhands } of matches) add(elements, longhands);
  for (const element of all) add([element], longhandsOfText(element.attribs["style"] ?? "", budget));
  return containers;
}

/** Whether an element stands in a container of which something holds. */
function isContained(
  element: Element,
  { name, holds }: ContainerCondition,
  containers: ReadonlyMap<Element, ReadonlySet<string>>,
  budget: StyleBudget,
): boolean {
  if (!holds || containers.size === 0) return false;
  budget.spend(10 * steps.around);
  return [...ancestorsOf(element)].some((around) => {
    const words = containers.get(around);
    return (
      words !== undefined && (words.has("size") || words.has("inline-size")) && (name === undefined || words.has(name))
    );
  });
}

/** What names and attributes say of how an element looks; they count least. */
function hintsOf({ name, attribs }: Element, isQuirky: boolean): string {
  const { hidden, bgcolor, size } = attribs;
  const hasSize = name === "font" ? size !== undefined : name === "button" || (isQuirky && name === "table");
  if (hidden === undefined && bgcolor === undefined && !hasSize && name !== "font" && name !== "body") return "";
  const colour = name === "font" ? attribs["color"] : name === "body" ? attribs["text"] : undefined;
  const hints = [
    hidden === undefined ? "" : /^until-found$/i.test(hidden) ? "content-visibility:hidden" : "display:none",
    hasSize ? "font-size:medium" : "", // or another that is not tiny
    colour === undefined ? "" : `color:${colour}`,
    bgcolor === undefined ? "" : `background-color:${bgcolor}`,
  ];
  return hints.join(";").slice(0, 200);
}
