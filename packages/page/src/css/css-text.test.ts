import { type CssNode, findAll, generate } from "css-tree/dist/csstree.esm";
import { expect, test } from "vitest";
import { parseCss } from "./css-text.ts";

test("a bracket that closes nothing is passed by, whatever was read before", () => {
  parseCss("@layer y#none[,top:1px@media screen)@layer y\n}:is(", {});

  expect(parseCss("{}]))+@media screen", {})).toMatchObject({ type: "StyleSheet" });
});

test.each([
  ["p{top:0})q{top:0}p{left:0}", ["p{top:0}", "p{left:0}"]],
  ["'}'}p{top:0}/*)*/p{content:')'}", ["p{content:')'}"]],
])("of %s the rules that have a selector are read", (sheet, rules) => {
  const read = parseCss(sheet, { parseValue: false }) as CssNode;

  expect(findAll(read, (node) => node.type === "Rule" && node.prelude.type === "SelectorList").map((node) => generate(node))).toEqual(rules);
});
