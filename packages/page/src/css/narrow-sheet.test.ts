import { type CssNode, generate, walk } from "css-tree/dist/csstree.esm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { elementsBelow } from "../tree/dom.ts";
import { parsePage } from "../tree/parse-page.ts";
import { attempt, parseCss } from "./css-text.ts";
import { namesOf, narrowSheet } from "./narrow-sheet.ts";

const $ = parsePage("<main id=x class='a b'><p class=a>1</p><nav><a class=b href=/>2</a></nav></main>");
const elements = elementsBelow($.root()[0] as never);
const all = { all: namesOf(elements), subjects: namesOf(elements) };

test.each([
  [".a{color:red}.none{color:red}#x{top:0}#none{top:0}p{left:0}table{left:0}", ".a{color:red}#x{top:0}p{left:0}"],
  [".none .a{top:0} .none,.a{top:0} .a.none{top:0} .A{top:0} P{top:0}", " .none,.a{top:0} .A{top:0} P{top:0}"],
  [".a:hover{top:0}.a::before{top:0}.a:first-child{top:0}.a:not(.none){top:0}.none:not(.a){top:0}", ".a:first-child{top:0}.a:not(.none){top:0}"],
  ['a[href="}.a{"]{top:0}.none[href]{top:0}', 'a[href="}.a{"]{top:0}'],
  ["/* } */.none{top:0}/*.none{*/.a{content:'}';top:0}.none{content:'}'}", "/* } *//*.none{*/.a{content:'}';top:0}"],
  [".a{background:url(a}b)}.none{background:url(a}b)}p{top:0}", ".a{background:url(a}b)}p{top:0}"],
  ["@media screen{.none{top:0}.a{top:0}}@layer x{.none{top:0}}", "@media screen{.a{top:0}}@layer x{}"],
  [".none{.a{top:0}}.a{color:red;.none{top:0}left:0;--v:{a:b}}", ".a{color:red;.none{top:0}left:0;--v:{a:b}}"],
  [".no\\ne{top:0}:is(p){top:0}*{top:0}[class]{top:0}.none{top:0", ".no\\ne{top:0}:is(p){top:0}*{top:0}[class]{top:0}.none{top:0"],
  ["<!--.a{top:0}-->.a{top:0}.none{top:0}--> .none{top:0}@media all{-->.a{top:0}}", "<!--.a{top:0}-->.a{top:0}-->@media all{-->.a{top:0}}"],
  ["}.none{top:0}.a{top:0}.none{top:0})", "}.none{top:0}.a{top:0})"],
  [".none{(})}.none{[}]}.a{top:0}(.none{top:0}.a{top:0}", ".a{top:0}(.none{top:0}.a{top:0}"],
  [".none{top:\\75rl(})}.none{top:x-url(})}.a{top:0}", ".a{top:0}"],
  ["@layer x;.none{top:0}.a{top:0};.none{top:0}", "@layer x;.a{top:0};.none{top:0}"],
  [".a\u00a0b{top:0}.a\u2003b{top:0}.none{top:0}", ".a\u00a0b{top:0}.a\u2003b{top:0}"],
])("of %j it leaves %j", (sheet, narrowed) => {
  expect(narrowSheet(sheet, all)).toBe(narrowed);
});

test.each([
  ["an open bracket", `[${"a".repeat(1_000_000)}{}.none{}`, false],
  ["colons", `${":".repeat(1_000_000)}{}.none{}`, true],
  ["comments behind white space", `${" ".repeat(500_000)}.a${"/**/".repeat(250_000)}{}`, false],
])("a long sheet of %s is read once", (_, sheet, isUnused) => {
  expect(narrowSheet(sheet, all)).toBe(isUnused ? "" : sheet);
});

test("only the last part of a selector has to be about an element that is asked for", () => {
  const names = { all: all.all, subjects: namesOf(elements.filter(({ name }) => name === "p")) };

  expect(narrowSheet("nav a{top:0}main p{top:0}#x>.a{top:0}nav{top:0}", names)).toBe("main p{top:0}#x>.a{top:0}");
});

const pieces = [
  ...[".a", ".b", ".none", "#x", "#none", "p", "table", "*", " ", ">", "+", ",", ":hover", "::before", ":not(", ":is(", "(", ")", "[class]", "[", "]", "&"],
  ...["{", "}", "{top:0}", "{color:red}", '"', "'", "/*", "*/", "\\", "\n", "url(", "@media screen", "@layer y", ";", "top:1px", "<!--", "é"],
];

test("what is left of a sheet says of each element what the whole sheet says", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 40 }), (parts) => {
      const sheet = parts.join("");

      expect(saidIn(narrowSheet(sheet, all))).toEqual(saidIn(sheet));
    }),
    { numRuns: 1_000 },
  );
});

/** Which elements each selector finds, with the declarations behind it. */
function saidIn(sheet: string): unknown[] {
  const said: unknown[] = [];
  const tree = parseCss(sheet, { parseValue: false }) as CssNode;
  walk(tree, (node: CssNode) => {
    if (node.type !== "Rule" || node.prelude.type !== "SelectorList") return;
    const block = generate(node.block);
    for (const selector of node.prelude.children) {
      const found = attempt(() => $(generate(selector)).toArray()) ?? [];
      if (found.length > 0) said.push([found.map((element) => elements.indexOf(element as never)), block]);
    }
  });
  return said;
}
