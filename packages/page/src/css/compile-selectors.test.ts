import { expect, test } from "vitest";
import { type Element, elementsBelow } from "../tree/dom.ts";
import { parsePage } from "../tree/parse-page.ts";
import { compileSelectors } from "./compile-selectors.ts";
import type { CompiledSelector, SelectorContext } from "./compiled-selector.ts";
import { placesOnPage } from "./place-test.ts";
import { StyleBudget } from "./style-budget.ts";

const $ =
  parsePage(`<html><body><div id=top class="a b"><section class=a><div class="b wide"><p id=x class=t>1</p><div class=b><section><p class="t u">2</p></section></div></div></section>
  <ul class=a><li class=b><p class=t>3</p></li><li><section class=a><p>4</p></section></li></ul></div><p class=t title="One two" lang=de-AT>5</p><a href=/ dir=rtl><b></b></a></body></html>`);
const elements = elementsBelow($.root()[0] as never);

function context(): SelectorContext {
  const budget = new StyleBudget();
  return {
    page: { isQuirky: false, hasScripts: true, places: placesOnPage(budget), classes: new Map(), budget },
    host: undefined,
  };
}
const compiled = (text: string): readonly CompiledSelector[] | undefined => compileSelectors(text, context());
const found = (text: string): Element[] | undefined => {
  const selectors = compiled(text);
  return selectors === undefined
    ? undefined
    : elements.filter((element) => selectors.some(({ matches }) => matches(element, undefined)));
};

test.each([
  ...[
    "p",
    "P",
    ".t",
    "#x",
    "p.t.u",
    "*",
    "div p",
    "div > p",
    ".a > .b p",
    ".a .b > p",
    "section.a > div.b section > p",
    ".a .a p",
    "ul > li > p.t",
    "li > p + p",
  ],
  ...[
    "#top .b > .b p",
    "section > * > p",
    ".b > section .t",
    ".nowhere p",
    "html p",
    ".\\74",
    "div:not(.b) p",
    "[class] > p",
    ".a > .b .b > section > p",
  ],
  ...[
    "p:first-child",
    "li:last-child > p",
    "ul > :only-child",
    "section:only-child",
    "*:nth-child(2)",
    ":nth-child(odd)",
    ":NTH-CHILD( EVEN )",
  ],
  ...[
    "li:nth-child(2n + 1)",
    ":nth-child(-n+2)",
    "li:nth-child(n)",
    ":nth-child(+3n - 2)",
    ":nth-child(0n+1)",
    ":nth-child(-2n+1)",
    ":nth-last-child(2)",
  ],
  ...[
    ":nth-last-child(2n) p",
    "html:first-child",
    "p:first-of-type",
    "li:nth-of-type(2)",
    "section:last-of-type",
    ":nth-last-of-type(1)",
    "b:only-of-type",
  ],
  ...[
    "li + li p",
    "section ~ ul",
    "section ~ ul p",
    "p#x + div section",
    "div ~ p",
    ":is(.b, ul) > li",
    ":where(.a) p",
    ":not(.t)",
    ":not(div p, li)",
  ],
  ...[
    "div:has(> section)",
    "li:has(p)",
    "section:has(+ ul)",
    "section:has(~ ul .t)",
    ":has(> p + div)",
    "[title]",
    "[title='One two']",
    "[title~=two]",
  ],
  ...["[title~=One]", "[title~='tw']", "[title~='.*']", "[title~='']"],
  ...[
    "[title^=One]",
    "[title$=two]",
    "[title*='e t']",
    "[title='ONE TWO' i]",
    "[lang|=de]",
    "[title~='One two']",
    "[title^='']",
    ":root",
    "b:empty",
    ":link",
  ],
])("%s matches the elements that a search finds", (text) => {
  expect(found(text)).toEqual($(text).toArray());
});

test.each([
  ["*|p", "p"],
  ["|p", "x"],
  [":nth-child(1 of .t)", "#x, section > p.u, li.b > p, body > p"],
  [":nth-last-child(1 of li, p.u)", "p.u, li:not(.b)"],
  [":dir(rtl)", "a, b"],
  ["b:dir(ltr)", "x"],
  [":lang(de)", "[lang]"],
  ["p:defined", "p"],
  ["p:read-only", "p"],
  ["& > body", "body"],
  [":scope > body", "body"],
  [":is(#x, :foo, p::before)", "#x"],
  [":is(#x, %)", "#x"],
  [":hover", "x"],
  [":not(:hover) > b", "b"],
  ["p::before", "x"],
  ["[TYPE], [dir=RTL]", "a"],
])("%s is about %s", (text, same) => {
  expect(found(text)).toEqual($(same).toArray());
});

test.each([
  ...[
    "p.a, :foo",
    "p,",
    "> p",
    "p >",
    "a > > b",
    "#1a",
    ".1a",
    "svg|p",
    "p*",
    "::foo",
    "p::before p",
    ":not()",
    ":not(:foo)",
    ":has(:foo)",
    ":nth-child(x)",
  ],
  ...[
    ":nth-child(1 of :foo)",
    "[x=1]",
    "[x=a q]",
    ":hover(x)",
    ":lang()",
    ":host(p q)",
    "::slotted(p q)",
    ":nth-of-type(1 of p)",
    "p)",
    ":has",
    "a/deep/b",
  ],
])("no browser knows %s", (text) => {
  expect(compiled(text)).toBeUndefined();
});

test.each([
  ["p", [0, 0, 1]],
  ["*", [0, 0, 0]],
  ["#x.a[b] p", [1, 2, 1]],
  [":is(#a, p)", [1, 0, 0]],
  [":where(#a)", [0, 0, 0]],
  [":not(#a, .b) p", [1, 0, 1]],
  ["div:has(> .a)", [0, 1, 1]],
  [":nth-child(2)", [0, 1, 0]],
  [":nth-child(2 of #a, p)", [1, 1, 0]],
  ["p::before", [0, 0, 2]],
  [":scope > p", [0, 1, 1]],
  [":is()", [0, 0, 0]],
])("%s has the specificity %j", (text, [ids = 0, classes = 0, names = 0]) => {
  expect(compiled(text)?.[0]?.specificity).toBe(ids * 2 ** 32 + classes * 2 ** 16 + names);
});

test("a selector of many parts costs no more than the page is deep for each", () => {
  const deep = parsePage(`${"<div class=a>".repeat(140)}<p>x</p>`);
  const [selector] = compiled(`.b ${".a ".repeat(100)} p`) ?? [];
  let steps = 0;
  const counted = elementsBelow(deep.root()[0] as never);
  for (const element of counted) {
    const { parent } = element;
    Object.defineProperty(element, "parent", {
      get: () => {
        steps++;
        return parent;
      },
    });
  }

  expect(
    counted.filter(({ name }) => name === "p").some((element) => selector?.matches(element, undefined) === true),
  ).toBe(false);
  expect(steps).toBeLessThan(1_000);
});
