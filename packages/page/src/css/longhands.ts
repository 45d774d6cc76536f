import { ident, lexer } from "css-tree/dist/csstree.esm";
import { TextMemo } from "../text-memo.ts";
import { attempt } from "./css-text.ts";
import { rgbOf } from "./css-values.ts";
import { readSheet, type WrittenDeclaration } from "./read-sheet.ts";
import { type StyleBudget, steps } from "./style-budget.ts";

/** A declaration of one property, in lower case but for the names of variables. */
export interface Longhand {
  readonly name: string;
  readonly value: string;
  readonly isImportant: boolean;
}

/** What a text has from the elements around it of what may keep it from being seen. */
export const inherited: ReadonlySet<string> = new Set(
  "visibility color -webkit-text-fill-color font-size text-indent".split(" "),
);
const properties: readonly string[] = [
  ...inherited,
  ..."display content-visibility opacity filter animation-name zoom position left top right bottom".split(" "),
  ..."margin-left margin-top transform scale translate clip clip-path float flex-grow flex-basis".split(" "),
  ..."width height max-width max-height min-width min-height flex-direction overflow-x overflow-y".split(" "),
  ..."padding-top padding-right padding-bottom padding-left".split(" "),
  ..."background-color background-image background-clip".split(" "),
];

/** Each has the whole text of its shorthand, from which its reader takes its part. */
const shorthands: Readonly<Record<string, readonly string[]>> = {
  all: properties,
  animation: ["animation-name"],
  background: ["background-color", "background-image", "background-clip"],
  "flex-flow": ["flex-direction"],
  overflow: ["overflow-x", "overflow-y"],
  "padding-block": ["padding-top", "padding-bottom"],
  "padding-inline": ["padding-left", "padding-right"],
};

/** What of a property there is for each side, by its name. */
const sides: Readonly<Record<string, string>> = { inset: "", margin: "margin-", padding: "padding-" };
const known: ReadonlySet<string> = new Set([
  ...[...properties, ...Object.keys(shorthands), ...Object.keys(sides)],
  ...["flex", "font"],
]);

/** The usual name of a property, as if all pages were written from left to right and from top to bottom. */
const usualName = (name: string): string =>
  name
    .replace(/^-webkit-(?!text-fill)/, "")
    .replace("inline-size", "width")
    .replace("block-size", "height")
    .replace(/(inline|block)-(start|end)$/, (_, axis, end) =>
      axis === "inline" ? (end === "start" ? "left" : "right") : end === "start" ? "top" : "bottom",
    )
    .replace(/^inset-/, "");

const decoded = (name: string): string => (name.includes("\\") ? ident.decode(name) : name);

/** Tells whether a property, as it is written, says something of interest. */
export const isRelevant = (written: string): boolean => {
  const name = decoded(written);
  return name.startsWith("--") || known.has(usualName(name.toLowerCase()));
};

/**
 * What declarations say of interest, but for values that are none: of two declarations a browser has the last that it
 * understands.
 */
export const longhandsIn = (declarations: readonly WrittenDeclaration[], budget: StyleBudget): readonly Longhand[] =>
  declarations.flatMap(({ name, value }) => {
    const longhands = isRelevant(name) ? longhandsOf(decoded(name), value, budget) : [];
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

function longhandsOf(written: string, writtenValue: string, budget: StyleBudget): readonly Longhand[] {
  const [marked = ""] = /!\s*important$/i.exec(writtenValue) ?? [];
  const value = comparable(writtenValue.slice(0, writtenValue.length - marked.length));
  const isImportant = marked !== "";
  if (written.startsWith("--")) return [{ name: written, value, isImportant }];
  const property = written.toLowerCase();
  if (!isValid(property, value, budget)) return [];
  const name = usualName(property);
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

/** What is said of a whole property, or not known yet. */
const isForAll = (value: string): boolean =>
  /^(?:inherit|initial|unset|revert|revert-layer)$/.test(value) || value.includes("var(");

/** What a `flex` makes of a box in its row or column. */
function flexIn(value: string): { readonly grow: string; readonly basis: string } {
  if (/^(?:none|auto)$/.test(value)) return { grow: value === "auto" ? "1" : "0", basis: "auto" };
  if (isForAll(value)) return { grow: value, basis: value };
  const isNumber = (part: string): boolean => /^[\d.]+$/.test(part);
  const parts = partsOf(value);
  return { grow: parts.find(isNumber) ?? "1", basis: parts.find((part) => !isNumber(part)) ?? "0px" };
}

/** The size in a `font`, which names none where it is a font of the system. */
const sizeIn = (font: string): string => (isForAll(font) ? font : (SIZE.exec(font)?.[1] ?? "medium"));
const SIZE =
  /(?:^|\s)(0+|[\d.]+(?:%|(?!deg|g?rad|turn)[a-z]+)|(?:calc|clamp|max|min)\((?:[^()]|\([^()]*\))*\)|(?:x{1,3}-)?(?:large|small)|larger|smaller)(?=\s*\/|\s)/;

/** The value in lower case but for the names of variables, and without escapes. */
const comparable = (value: string): string =>
  decoded(value.trim()).replaceAll(/--[\w-]+|[A-Z]+/g, (part) => (part.startsWith("--") ? part : part.toLowerCase()));

const isValid = (name: string, value: string, budget: StyleBudget): boolean =>
  value.includes("var(") ||
  validity.of(`${name}:${value}`, () => {
    budget.spend(steps.value * (value.includes("(") ? 2 : 1));
    if (/(?:^|\s)-(?:khtml|moz|ms|o)-/.test(value)) return false;
    // css-tree knows no colours that are made from others.
    return (
      attempt(() => lexer.matchProperty(name, value).error === null) === true ||
      (name.endsWith("color") && rgbOf(value) !== undefined)
    );
  });

const validity = new TextMemo<boolean>({ maxTexts: 20_000, maxLength: 200 });
