import { ident, lexer } from "css-tree/dist/csstree.esm";
import { TextMemo } from "../text-memo.ts";
import { attempt } from "./css-text.ts";
import { rgbOf } from "./css-values.ts";
import { readSheet, type WrittenDeclaration } from "./read-sheet.ts";
import { type StyleBudget, steps } from "./style-budget.ts";
import { isForeign } from "./vendors.ts";

/** A declaration of one property, in lower case but for the names of variables. */
export interface Longhand {
  readonly name: string;
  readonly value: string;
  readonly isImportant: boolean;
}

/** What may keep a text from being seen, and what a text has from the elements around it of that. */
const inherited: readonly string[] = ["visibility", "color", "-webkit-text-fill-color", "font-size", "text-indent"];
const others: readonly string[] = [
  ...[
    "display",
    "content-visibility",
    "opacity",
    "filter",
    "animation-name",
    "zoom",
    "rotate",
    "position",
    "left",
    "top",
    "right",
    "bottom",
  ],
  ...[
    "margin-left",
    "margin-top",
    "transform",
    "scale",
    "translate",
    "clip",
    "clip-path",
    "width",
    "height",
    "max-width",
    "max-height",
    "min-width",
  ],
  ...[
    "min-height",
    "padding-top",
    "padding-right",
    "padding-bottom",
    "padding-left",
    "float",
    "flex-grow",
    "flex-basis",
    "flex-direction",
  ],
  ...[
    "grid-template-rows",
    "overflow-x",
    "overflow-y",
    "background-color",
    "background-image",
    "background-clip",
    "container",
  ],
];

/** Each has the whole text of its shorthand, from which its reader takes its part. */
const shorthands: Readonly<Record<string, readonly string[]>> = {
  all: [...inherited, ...others],
  animation: ["animation-name"],
  background: ["background-color", "background-image", "background-clip"],
  container: ["container"],
  "flex-flow": ["flex-direction"],
  overflow: ["overflow-x", "overflow-y"],
  "padding-block": ["padding-top", "padding-bottom"],
  "padding-inline": ["padding-left", "padding-right"],
};

/** As if all pages were written from left to right and from top to bottom. */
const aliases: Readonly<Record<string, string>> = {
  ...{
    "inset-inline-start": "left",
    "inset-inline-end": "right",
    "inset-block-start": "top",
    "inset-block-end": "bottom",
  },
  ...{
    "margin-inline-start": "margin-left",
    "margin-block-start": "margin-top",
    "inline-size": "width",
    "block-size": "height",
  },
  ...{
    "max-inline-size": "max-width",
    "max-block-size": "max-height",
    "min-inline-size": "min-width",
    "min-block-size": "min-height",
  },
  ...{
    "padding-block-start": "padding-top",
    "padding-block-end": "padding-bottom",
    "padding-inline-start": "padding-left",
    "padding-inline-end": "padding-right",
  },
  ...{ "container-type": "container", "container-name": "container" },
  ...Object.fromEntries(
    [
      "animation",
      "animation-name",
      "background-clip",
      "clip-path",
      "filter",
      "flex",
      "flex-basis",
      "flex-direction",
      "flex-flow",
      "flex-grow",
      "opacity",
      "transform",
    ].map((name) => [`-webkit-${name}`, name] as const),
  ),
};

/** What of a property there is for each side, by what its name begins with. */
const sides: Readonly<Record<string, string>> = { inset: "", margin: "margin-", padding: "padding-" };

const relevant: ReadonlySet<string> = new Set([
  ...inherited,
  ...others,
  ...Object.keys(shorthands),
  ...Object.keys(aliases),
  ...Object.keys(sides),
  "flex",
  "font",
]);

export const inheritedProperties: ReadonlySet<string> = new Set(inherited);

/** Whether a property, as it is written, says something of interest. */
export const isRelevant = (written: string): boolean => {
  const name = written.includes("\\") ? ident.decode(written) : written;
  return name.startsWith("--") || relevant.has(name.toLowerCase());
};

/**
 * What declarations say of interest, but for values that are none: of two declarations a browser has the last that it
 * understands.
 */
export const longhandsIn = (declarations: readonly WrittenDeclaration[], budget: StyleBudget): readonly Longhand[] =>
  declarations.flatMap(({ name, value }) => {
    const longhands = longhandsOf(name, value, budget);
    budget.spend(steps.kept * longhands.length);
    return longhands;
  });

/** What a style attribute says. Pages write the same at many elements, and each page is read twice. */
export const longhandsOfText = (style: string, budget: StyleBudget): readonly Longhand[] =>
  style === ""
    ? []
    : styleTexts.of(style, (text) => {
        budget.spend(steps.style);
        const written: WrittenDeclaration[] = [];
        const declarations = (list: readonly WrittenDeclaration[]): void => {
          for (const declaration of list) written.push(declaration);
        };
        readSheet(text, undefined, { rule: () => undefined, atRule: () => undefined, declarations }, true);
        return longhandsIn(written, budget);
      });

const styleTexts = new TextMemo<readonly Longhand[]>({ maxTexts: 2_000, maxLength: 500 });

function longhandsOf(writtenName: string, writtenValue: string, budget: StyleBudget): readonly Longhand[] {
  const decoded = writtenName.includes("\\") ? ident.decode(writtenName) : writtenName;
  const isVariable = decoded.startsWith("--");
  const property = isVariable ? decoded : decoded.toLowerCase();
  if (!isVariable && !relevant.has(property)) return [];
  const [marked = ""] = /!\s*important$/i.exec(writtenValue) ?? [];
  const value = comparable(writtenValue.slice(0, writtenValue.length - marked.length));
  if (!isValid(property, value, budget)) return [];
  const isImportant = marked !== "";
  if (isVariable) return [{ name: property, value, isImportant }];
  const name = aliases[property] ?? property;
  const side = sides[name];
  if (side !== undefined) {
    const [top = value, right = top, bottom = top, left = right] = partsOf(value);
    return Object.entries({ top, right, bottom, left }).map(([place, own]) => ({
      name: `${side}${place}`,
      value: own,
      isImportant,
    }));
  }
  if (name === "flex")
    return Object.entries(flexIn(value)).map(([part, own]) => ({ name: `flex-${part}`, value: own, isImportant }));
  if (name === "font") return [{ name: "font-size", value: sizeIn(value), isImportant }];
  return (shorthands[name] ?? [name]).map((longhand) => ({ name: longhand, value, isImportant }));
}

const partsOf = (value: string): readonly string[] => value.match(/[a-z-]*\((?:[^()]|\([^()]*\))*\)|[^\s]+/g) ?? [];

/** What a `flex` makes of a box in its row or column. */
function flexIn(value: string): { readonly grow: string; readonly basis: string } {
  if (/^(?:none|auto|initial)$/.test(value)) return { grow: value === "auto" ? "1" : "0", basis: "auto" };
  if (/^(?:inherit|unset|revert|revert-layer)$/.test(value) || value.includes("var("))
    return { grow: value, basis: value };
  const [numbers, sizes] = [
    partsOf(value).filter((part) => /^[\d.]+$/.test(part)),
    partsOf(value).filter((part) => !/^[\d.]+$/.test(part)),
  ];
  return { grow: numbers[0] ?? "1", basis: sizes[0] ?? "0px" };
}

/** The size in a `font`, which names none where it is a font of the system. */
const sizeIn = (font: string): string =>
  /^(?:inherit|initial|unset|revert|revert-layer)$/.test(font) || font.includes("var(")
    ? font
    : (SIZE.exec(font)?.[1] ?? "medium");

const SIZE =
  /(?:^|\s)(0+|[\d.]+(?:%|(?!deg|g?rad|turn)[a-z]+)|(?:calc|clamp|max|min)\((?:[^()]|\([^()]*\))*\)|(?:x{1,3}-)?(?:large|small)|larger|smaller)(?=\s*\/|\s)/;

/** In lower case but for the names of variables, and without escapes. */
const comparable = (value: string): string =>
  (value.includes("\\") ? ident.decode(value.trim()) : value.trim()).replaceAll(/--[\w-]+|[A-Z]+/g, (part) =>
    part.startsWith("--") ? part : part.toLowerCase(),
  );

const isValid = (name: string, value: string, budget: StyleBudget): boolean =>
  name.startsWith("--") ||
  value.includes("var(") ||
  validity.of(`${name}:${value}`, () => {
    budget.spend(steps.value * (value.includes("(") ? 2 : 1));
    if (isForeign(name, value)) return false;
    // css-tree knows no colours that are made from others.
    return (
      attempt(() => lexer.matchProperty(name, value).error === null) === true ||
      (name.endsWith("color") && rgbOf(value) !== undefined)
    );
  });

const validity = new TextMemo<boolean>({ maxTexts: 20_000, maxLength: 200 });
