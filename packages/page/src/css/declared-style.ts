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
  /** True if the page has further sheets elsewhere, which are not read here. */
  readonly isIncomplete: boolean;
}

/** Whose styles are read. */
export interface DeclaredStylesOptions {
  /** True if the page's sheets count. @default true */
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
  /** What has to hold for it, beside the layer that it stands in; see `Rule`. */
  readonly condition: string;
}

/** Attributes that say how an element looks count least, and important declarations of style attributes most. */
const bands = { hints: 0, layers: 1, rules: 2, style: 3, importantRules: 4, importantLayers: 5, importantStyle: 6 };
/** Stands for several conditions that differ. */
const SEVERAL = "@media several";
/** Marks a rule whose selector may match nothing. */
const UNKNOWN = "@selector ";
const mayFail = (condition: string): boolean => /@(?:media|supports|selector)/.test(condition);

/**
 * Reads styles: sheets in the page, presentational attributes, and style attributes; by importance, specificity and
 * order. Where rules may not apply, it reads them twice: without these rules, and with all. Values that are none are left out, and rules for states such as hovering.
 * @param all the elements of the page, in document order
 */
export function declaredStyles(
  $: CheerioAPI,
  all: readonly Element[],
  { withSheets = true, among }: DeclaredStylesOptions = {},
): readonly DeclaredStyles[] {
  const elements = among === undefined ? all : all.filter((element) => among.has(element));
  const budget = new StyleBudget();
  const isQuirky = isQuirkyPage($);
  const said: Said[] = [];
  let left = MAX_SHEET_CHARACTERS;
  for (const element of elements) {
    const say = (text: string, band: number): void => {
      if (text === "") return;
      const [normal, important] = byImportance(longhandsOfText(text, budget));
      const own = { elements: [element], specificity: 0, condition: "" };
      said.push({ ...own, longhands: normal, band });
      if (important.length > 0) said.push({ ...own, longhands: important, band: bands.importantStyle });
    };
    say(hintsOf(element, isQuirky), bands.hints);
    const style = element.attribs["style"] ?? "";
    left -= style.length;
    if (left < 0) throw new PageTooComplexError("more styles than can be read");
    say(style, bands.style);
  }
  const rules = withSheets && all.some(({ name }) => name === "style") ? rulesIn(all, elements, budget) : [];
  const matching = matchingOn({ elements: rules.length === 0 ? [] : elements, isQuirky, budget });
  for (const [i, { selectors, declarations, tree, condition: around }] of rules.entries()) {
    let longhands: ReturnType<typeof byImportance> | undefined;
    const matches = selectors.map((selector) => ({ ...selector, elements: matching(selector, tree) }));
    const condition = matches.some(({ elements: matched }) => matched === undefined)
      ? `${around}${UNKNOWN}${i}`
      : around;
    const isLayered = condition.includes("@layer");
    for (const { elements: matched = [], specificity } of matches) {
      if (matched.length === 0) continue;
      longhands ??= byImportance(longhandsIn(declarations, budget));
      const own = { elements: matched, specificity, condition };
      said.push({ ...own, longhands: longhands[0], band: isLayered ? bands.layers : bands.rules });
      const band = isLayered ? bands.importantLayers : bands.importantRules;
      if (longhands[1].length > 0) said.push({ ...own, longhands: longhands[1], band });
    }
  }
  const sure = said.filter(({ condition }) => !mayFail(condition));
  const isIncomplete = all.some(({ name, attribs }) => name === "link" && /\bstylesheet\b/i.test(attribs["rel"] ?? ""));
  return (sure.length === said.length ? [said] : [sure, said]).map((list) => {
    const styles = stylesOf(list, budget);
    return { of: (element) => styles.get(element) ?? NONE, budget, isIncomplete };
  });
}

const NONE: DeclaredStyle = new Map();

const byImportance = (longhands: readonly Longhand[]): readonly [readonly Longhand[], readonly Longhand[]] => [
  longhands.filter(({ isImportant }) => !isImportant),
  longhands.filter(({ isImportant }) => isImportant),
];

function stylesOf(said: readonly Said[], budget: StyleBudget): ReadonlyMap<Element, DeclaredStyle> {
  interface Declared extends Pick<Said, "band" | "specificity" | "condition"> {
    readonly value: string;
  }
  const found = new Map<Element, Map<string, Declared>>();
  // What counts more comes later. Sorting keeps the order of what counts the same.
  const order = said.toSorted((a, b) => a.band - b.band || a.specificity - b.specificity);
  for (const { elements, longhands, band, specificity, condition } of order) {
    budget.spend(elements.length * longhands.length);
    for (const element of elements) {
      const own = found.get(element) ?? new Map<string, Declared>();
      found.set(element, own);
      for (const { name, value } of longhands) {
        const before = own.get(name);
        // Which of two counts is not known where a layer or a condition has one of them: what hides wins.
        const isUnsure =
          before !== undefined &&
          before.condition !== condition &&
          (condition !== "" || (before.band === band && before.specificity === specificity)) &&
          hiding.test(`${name}:${before.value}`);
        if (isUnsure && !hiding.test(`${name}:${value}`)) continue;
        own.set(name, { value, band, specificity, condition: isUnsure ? SEVERAL : condition });
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
  // A variable that is "initial" is none: what asks for it takes its fallback.
  if (name.startsWith("--")) return /^(?:unset|inherit)$/.test(value) ? [] : [value];
  if (value !== "initial" && value !== "unset") return [value];
  if (value === "unset" && inherited.has(name)) return ["inherit"];
  return initials[name] === undefined ? [] : [initials[name]];
}

const initials: Readonly<Record<string, string>> = {
  ...{ display: "inline", visibility: "visible", color: "black", "font-size": "medium" },
  "-webkit-text-fill-color": "currentcolor",
};

/** A name or digits: in CSS, more could end the declaration that it stands in. */
const isPlainColour = (value: string | undefined): boolean => value !== undefined && /^#?[a-z\d]{1,40}$/i.test(value);

/** What names and attributes say of how an element looks; they count least. */
function hintsOf({ name, attribs }: Element, isQuirky: boolean): string {
  const { hidden, bgcolor, size } = attribs;
  const hasSize = name === "font" ? size !== undefined : name === "button" || (isQuirky && name === "table");
  if (hidden === undefined && bgcolor === undefined && !hasSize && name !== "font" && name !== "body") return "";
  const colour = name === "font" ? attribs["color"] : name === "body" ? attribs["text"] : undefined;
  const hints = [
    hasSize ? "font-size:medium" : "", // or another that is not tiny
    isPlainColour(colour) ? `color:${colour}` : "",
    isPlainColour(bgcolor) ? `background-color:${bgcolor}` : "",
    hidden === undefined ? "" : /^until-found$/i.test(hidden) ? "content-visibility:hidden" : "display:none",
  ];
  return hints.join(";");
}
