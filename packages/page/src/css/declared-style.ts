import type { CheerioAPI } from "cheerio/slim";
import { PageTooComplexError } from "../page-too-complex-error.ts";
import type { Element } from "../tree/dom.ts";
import { isQuirkyPage } from "../tree/quirks.ts";
import { inherited, type Longhand, longhandsIn, longhandsOfText } from "./longhands.ts";
import { matchingOn } from "./match-selectors.ts";
import { hiding, MAX_SHEET_CHARACTERS, rulesIn } from "./sheet-rules.ts";
import { StyleBudget } from "./style-budget.ts";

/** Values by property, in lower case but for the names of variables. Inheritance is another's matter. */
export type DeclaredStyle = ReadonlyMap<string, string>;

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

/** What is said of elements at one place, and how much it counts: first by its band, then by its specificity. */
interface Said {
  readonly elements: readonly Element[];
  readonly longhands: readonly Longhand[];
  readonly band: number;
  readonly specificity: number;
  readonly isConditional: boolean;
}

/** Attributes that say how an element looks count least, and important declarations of style attributes most. */
const bands = { hints: 0, rules: 1, style: 2, importantRules: 3, importantStyle: 4 } as const;

/**
 * Reads styles: sheets in the page, presentational attributes, and style attributes; by importance, specificity and
 * order. Values that are none are left out, and rules for states such as hovering.
 * @param all the elements of the page, in document order
 */
export function declaredStyles(
  $: CheerioAPI,
  all: readonly Element[],
  { withSheets = true, among }: DeclaredStylesOptions = {},
): DeclaredStyles {
  const elements = among === undefined ? all : all.filter((element) => among.has(element));
  const budget = new StyleBudget();
  const isQuirky = isQuirkyPage($);
  const said: Said[] = [];
  let left = MAX_SHEET_CHARACTERS;
  for (const element of elements) {
    const say = (text: string, band: number): void => {
      if (text === "") return;
      const [normal, important] = byImportance(longhandsOfText(text, budget));
      said.push({ elements: [element], longhands: normal, band, specificity: 0, isConditional: false });
      if (important.length === 0) return;
      const own = { elements: [element], longhands: important, band: bands.importantStyle };
      said.push({ ...own, specificity: 0, isConditional: false });
    };
    say(hintsOf(element, isQuirky), bands.hints);
    const style = element.attribs["style"] ?? "";
    left -= style.length;
    if (left < 0) throw new PageTooComplexError("more styles than can be read");
    say(style, bands.style);
  }
  const rules = withSheets && all.some(({ name }) => name === "style") ? rulesIn(all, elements, budget) : [];
  const matching = matchingOn({ elements: rules.length === 0 ? [] : elements, isQuirky, budget });
  for (const { selectors, declarations, tree, isConditional } of rules) {
    let longhands: ReturnType<typeof byImportance> | undefined;
    for (const selector of selectors) {
      const matched = matching(selector, tree);
      if (matched.length === 0) continue;
      longhands ??= byImportance(longhandsIn(declarations, budget));
      const own = { elements: matched, specificity: selector.specificity, isConditional };
      said.push({ ...own, longhands: longhands[0], band: bands.rules });
      if (longhands[1].length > 0) said.push({ ...own, longhands: longhands[1], band: bands.importantRules });
    }
  }
  const styles = stylesOf(said, budget);
  const isIncomplete = all.some(({ name, attribs }) => name === "link" && /\bstylesheet\b/i.test(attribs["rel"] ?? ""));
  return { of: (element) => styles.get(element) ?? NONE, budget, isIncomplete };
}

const NONE: DeclaredStyle = new Map();

const byImportance = (longhands: readonly Longhand[]): readonly [readonly Longhand[], readonly Longhand[]] => [
  longhands.filter(({ isImportant }) => !isImportant),
  longhands.filter(({ isImportant }) => isImportant),
];

function stylesOf(said: readonly Said[], budget: StyleBudget): ReadonlyMap<Element, DeclaredStyle> {
  interface Declared extends Pick<Said, "band" | "specificity" | "isConditional"> {
    readonly value: string;
  }
  const found = new Map<Element, Map<string, Declared>>();
  // What counts more comes later. Sorting keeps the order of what counts the same.
  const order = said.toSorted((a, b) => a.band - b.band || a.specificity - b.specificity);
  for (const { elements, longhands, band, specificity, isConditional } of order) {
    budget.spend(elements.length * longhands.length);
    for (const element of elements) {
      const own = found.get(element) ?? new Map<string, Declared>();
      found.set(element, own);
      for (const { name, value } of longhands) {
        const before = own.get(name);
        // Which of two comes later is not known where a layer or a condition has one of them: what hides wins.
        const isTie =
          before?.band === band && before.specificity === specificity && (before.isConditional || isConditional);
        if (isTie && hiding.test(`${name}:${before.value}`) && !hiding.test(`${name}:${value}`)) continue;
        own.set(name, { value, band, specificity, isConditional });
      }
    }
  }
  return new Map(
    [...found].map(([element, own]) => [
      element,
      new Map([...own].flatMap(([name, { value }]) => withoutKeyword(name, value).map((kept) => [name, kept]))),
    ]),
  );
}

/** What a value is if it is one of the keywords that all properties have; nothing where the property then says nothing. */
export function withoutKeyword(name: string, value: string): readonly string[] {
  if (/^revert(?:-layer)?$/.test(value)) return [];
  if (value !== "initial" && value !== "unset") return [value];
  if (value === "unset" && inherited.has(name)) return ["inherit"];
  return initials[name] === undefined ? [] : [initials[name]];
}

const initials: Readonly<Record<string, string>> = {
  ...{ display: "inline", visibility: "visible", color: "black", "font-size": "medium" },
  "-webkit-text-fill-color": "currentcolor",
};

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
