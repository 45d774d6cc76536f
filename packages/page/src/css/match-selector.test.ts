import { load } from "cheerio/slim";
import { parse, type Selector, type SelectorList } from "css-tree/dist/csstree.esm";
import { expect, test } from "vitest";
import { elementsBelow } from "../tree/dom.ts";
import { parsePage } from "../tree/parse-page.ts";
import { type MatcherOptions, matcherOf } from "./match-selector.ts";
import { placesOnPage } from "./place-test.ts";
import { StyleBudget } from "./style-budget.ts";

const page = `<div id=top class="a b"><section class=a><div class="b wide"><p id=x class=t>1</p><div class=b><section><p class="t u">2</p></section></div></div></section>
  <ul class=a><li class=b><p class=t>3</p></li><li><section class=a><p>4</p></section></li></ul></div><p class=t>5</p>`;

function options(): MatcherOptions {
  const budget = new StyleBudget();
  return { classes: new Map(), isQuirky: false, placeOf: placesOnPage(budget), budget };
}

const first = (text: string): Selector => (parse(text, { context: "selectorList" }) as SelectorList).children.first as Selector;

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
  ...["#top .b > .b p", "section > * > p", ".b > section .t", ".nowhere p", "html p", ".\\74", "div:not(.b) p", "[class] > p", ".a > .b .b > section > p"],
  ...[
    "p:first-child",
    "li:last-child > p",
    "ul > :only-child",
    "section:only-child",
    "*:nth-child(2)",
    ":nth-child(odd)",
    ":NTH-CHILD( EVEN )",
    "li:nth-child(2n + 1)",
  ],
  ...[
    ":nth-child(-n+2)",
    "li:nth-child(n)",
    ":nth-child(+3n - 2)",
    ":nth-child(0n+1)",
    ":nth-child(-2n+1)",
    ":nth-last-child(2)",
    ":nth-last-child(2n) p",
    "html:first-child",
  ],
  "p:first-of-type",
])("%s matches the elements that a search finds", (text) => {
  const $ = parsePage(page);
  const isMatch = matcherOf(first(text), options());
  const found = $(text).toArray();

  expect(isMatch === undefined ? found : elementsBelow($.root()[0] as never).filter(isMatch)).toEqual(found);
  expect(isMatch === undefined).toBe(/\[|p \+|:not|of-type/.test(text));
});

test("a place among some of the siblings is left to a search", () => {
  expect(matcherOf(first("li:nth-child(1 of .b)"), options())).toBeUndefined();
});

test("a selector of many parts costs no more than the page is deep for each", () => {
  const $ = load(`${"<div class=a>".repeat(140)}<p>x</p>`);
  const isMatch = matcherOf(first(`.b ${".a ".repeat(100)} p`), options());
  let steps = 0;
  const counted = elementsBelow($.root()[0] as never);
  for (const element of counted) {
    const { parent } = element;
    Object.defineProperty(element, "parent", {
      get: () => {
        steps++;
        return parent;
      },
    });
  }

  expect(counted.filter((element) => element.name === "p").some((element) => isMatch?.(element) === true)).toBe(false);
  expect(steps).toBeLessThan(1_000);
});
