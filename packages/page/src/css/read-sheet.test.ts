import fc from "fast-check";
import { expect, test } from "vitest";
import { readSheet } from "./read-sheet.ts";

/** What a sheet says, each declaration with the preludes around it. */
function said(sheet: string, isStyle = false): string[] {
  const found: string[] = [];
  readSheet<string>(
    sheet,
    "",
    {
      rule: ({ text }, around) => `${around}${text} > `,
      atRule: (name, prelude, around, hasBlock) => {
        if (!hasBlock) found.push(`${around}@${name} ${prelude}`);
        return name === "font-face" ? undefined : `${around}@${name} ${prelude} > `;
      },
      declarations: (list, around) => void found.push(...list.map(({ name, value }) => `${around}${name}: ${value}`)),
    },
    isStyle,
  );
  return found;
}

test.each([
  ["p{top:0;left:1px}q{top:0", ["p > top: 0", "p > left: 1px", "q > top: 0"]],
  ["p{top:0;& q{left:0}right:0}", ["p > top: 0", "p > & q > left: 0", "p > right: 0"]],
  ["p{a:hover{top:0}i{left:0}}", ["p > a:hover > top: 0", "p > i > left: 0"]],
  ["p{--v:{a:b};--w:a{b};top:0}", ["p > --v: {a:b}", "p > --w: a{b}", "p > top: 0"]],
  ["p{*top:0;$a:1;top 0;color:red;;left:0}", ["p > color: red", "p > left: 0"]],
  ["p{top:0);left:0}", ["p > left: 0"]],
  ["p{top:calc(1px", ["p > top: calc(1px)"]],
  ["p{top:/* ; } */0}/* no end", ["p > top: 0"]],
  ["p{top:0}/* p{left:0}", ["p > top: 0"]],
  ["<!-- p{top:0} --> p{left:0}", ["p > top: 0", "p > left: 0"]],
  ["}p{top:0}p{left:0}", ["p > left: 0"]],
  ["p{top:0})q{top:0}p{left:0}", ["p > top: 0", "p > left: 0"]],
  ["p;q{top:0}", ["p;q > top: 0"]],
  ["@layer a, b;@media screen{p{top:0}}", ["@layer a, b", "@media screen > p > top: 0"]],
  ["@media print{p{top:0}", ["@media print > p > top: 0"]],
  ["p{@media screen{top:0;q{left:0}}}", ["p > @media screen > top: 0", "p > @media screen > q > left: 0"]],
  ["@font-face{p{top:0}}p{left:0}", ["p > left: 0"]],
  ['[x="}{"]{top:url(a}b)}p{content:"}"}', ['[x="}{"] > top: url(a}b)', 'p > content: "}"']],
  ["top:0}p{left:0}q{top:0}", ["q > top: 0"]],
])("of %j is read what a browser reads", (sheet, declarations) => {
  expect(said(sheet)).toEqual(declarations);
});

test.each([
  ["top:0;left:0", ["top: 0", "left: 0"]],
  ["top:0)};left:0", ["left: 0"]],
  ["top:0}p{left:0;right:0", []],
  ["p{left:0}top:0", ["p > left: 0", "top: 0"]],
])("of the style attribute %j are read declarations", (style, declarations) => {
  expect(said(style, true)).toEqual(declarations);
});

test("what is passed by tells nothing of what it holds", () => {
  const rules: string[] = [];
  readSheet<true>("a{b{}@media x{c{}}}d{(}e{})}f{}", true, {
    rule: ({ text }) => void rules.push(text),
    atRule: () => true,
    declarations: () => {},
  });

  expect(rules).toEqual(["a", "d", "f"]);
});

test.each([
  ["an open bracket", `[${"a".repeat(1_000_000)}{}.none{}`],
  ["colons", `${":".repeat(1_000_000)}{}.none{}`],
  ["comments behind white space", `${" ".repeat(500_000)}.a${"/**/".repeat(250_000)}{}`],
  ["open blocks", "p{".repeat(300_000)],
])("a long sheet of %s is read once", (_, sheet) => {
  expect(said(sheet)).toEqual([]);
});

const pieces = [
  ...[
    ".a",
    "p",
    " ",
    ">",
    ",",
    ":hover",
    ":is(",
    "(",
    ")",
    "[",
    "]",
    "&",
    "{",
    "}",
    "{top:0}",
    '"',
    "'",
    "/*",
    "*/",
    "\\",
    "\n",
    "url(",
    "@media screen",
  ],
  ...["@layer y", ";", "top:1px", "--v:", "<!--", "-->", "é", "@"],
];

test("any sheet is read, and whatever stands behind a rule takes nothing from it", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 40 }), (parts) => {
      expect(said(`x{first:1}${parts.join("")}`)[0]).toBe("x > first: 1");
    }),
    { numRuns: 1_000 },
  );
});
