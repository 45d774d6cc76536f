import { isComment, isDirective } from "domhandler";
import fc from "fast-check";
import { parse } from "parse5";
import { adapter } from "parse5-htmlparser2-tree-adapter";
import { expect, test } from "vitest";
import { type AnyNode, isElement, isParent, isText } from "./dom.ts";
import { parsePage } from "./parse-page.ts";

const bodyOf = (html: string): string | null => parsePage(`<!doctype html><body>${html}`)("body").html();

test.each([
  [
    "cells",
    "<table><td>a<td>b<tr><th>c</table>d",
    "<table><tbody><tr><td>a</td><td>b</td></tr><tr><th>c</th></tr></tbody></table>d",
  ],
  [
    "columns",
    "<table><col><col><tr><td>a</table>",
    "<table><colgroup><col><col></colgroup><tbody><tr><td>a</td></tr></tbody></table>",
  ],
  [
    "a block that ends in a cell",
    "<div><table><td>a</div>b</table>c</div>d",
    "<div><table><tbody><tr><td>ab</td></tr></tbody></table>c</div>d",
  ],
  [
    "text beside the cells of a table",
    "<table>a<tr>b<td>c</table>d",
    "ab<table><tbody><tr><td>c</td></tr></tbody></table>d",
  ],
  ["cells beside any table", "<div><td>a</td>b</div>", "<div>ab</div>"],
  ["a heading that ends as another", "<h2>a</h3>b", "<h2>a</h2>b"],
  ["a mark that goes on behind its paragraph", "<p><b>a<p>b</b>c", "<p><b>a</b></p><p><b>b</b>c</p>"],
  [
    "a link around a block in a paragraph",
    "<p><a href=x>a<div>b</div></a>",
    '<p><a href="x">a</a></p><div><a href="x">b</a></div>',
  ],
  [
    "a link that the next ends",
    "<a href=x>a<p>b<a href=y>c</a>",
    '<a href="x">a</a><p><a href="x">b</a><a href="y">c</a></p>',
  ],
  ["ends that nothing begins", "a</p>b</br>c</i>d", "a<p></p>b<br>cd"],
  ["a picture by another name", "<image src=x>", '<img src="x">'],
  ["the end of a picture's text", "<svg><text>a<p>b</svg>", "<svg><text>a</text></svg><p>b</p>"],
])("a page becomes the tree that a browser makes of it: %s", (_, html, expected) => {
  expect(bodyOf(html)).toBe(expected);
});

test.each([
  ["a comment", "<!-- x -->a", "a"],
  ["a comment that ends as one in SGML", "<!-- x --!>a", "a"],
  ["a comment without anything", "<!-->a<!--->b<!---->c", "abc"],
  ["a comment that nothing ends", "a<!-- x", "a"],
  ["what browsers take for comments", "a<! x>b<?php x ?>c</ x>d<![CDATA[x]]>e</>f", "abcdef"],
  ["a section of a picture", "<svg><![CDATA[<a&amp;]]></svg>", "<svg>&lt;a&amp;amp;</svg>"],
  ["signs that begin no tag", "1 < 2 <3 <", "1 &lt; 2 &lt;3 &lt;"],
  ["a tag that nothing ends", 'a<b title="x>y', "a"],
  ["quotes in an end tag", '<b>a</b title=">">c', "<b>a</b>c"],
  ["an entity without its end", "&ampx<a title='&ampx'>", '&amp;x<a title="&amp;ampx"></a>'],
  [
    "text alone",
    "<textarea>\n<b>&amp;</textarea><xmp><b>&amp;</xmp>",
    "<textarea>&lt;b&gt;&amp;</textarea><xmp><b>&amp;</xmp>",
  ],
  ["a page in a page", "<iframe><p>a</iframe>", "<iframe><p>a</iframe>"],
  [
    "a script that writes a script",
    "<script><!--<script>a</script>--></script>b",
    "<script><!--<script>a</script>--></script>b",
  ],
  ["a comment in a script that is none", "<script><!-->a<script></script>b", "<script><!-->a<script></script>b"],
  ["plain text", "a<plaintext>b</plaintext><b>", "a<plaintext>b</plaintext><b></plaintext>"],
])("what begins with a sign of markup is read as a browser reads it: %s", (_, html, expected) => {
  expect(bodyOf(html)).toBe(expected);
});

test.each([
  ["no doctype", "<p>", true],
  ["today's", "<!DOCTYPE html >", false],
  [
    "an old one with an address",
    '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN" "http://www.w3.org/TR/html4/loose.dtd">',
    false,
  ],
  ["an old one without", "<!doctype html public '-//W3C//DTD HTML 4.01 Transitional//EN'>", true],
  [
    "one of XHTML",
    '<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://x">',
    false,
  ],
  ["one that is broken", "<!doctype html foo>", true],
])("a page with %s as its doctype", (_, html, isQuirky) => {
  expect(parsePage(html).root()[0]).toHaveProperty(
    "x-mode",
    isQuirky ? "quirks" : expect.stringMatching(/^(?:no|limited)-quirks$/),
  );
});

test.each([
  [
    "in a head",
    "<head><noscript>a<img></noscript><title>b</title></head><p>c",
    "<head><noscript>a<img></noscript><title>b</title></head><body><p>c</p></body>",
  ],
  [
    "with open elements",
    "<p>a<noscript><div><p>b</noscript>c",
    "<head></head><body><p>a<noscript><div><p>b</p></div></noscript>c</p></body>",
  ],
  [
    "with ends of others",
    "<p>a<noscript></p></template></noscript>c",
    "<head></head><body><p>a<noscript></noscript>c</p></body>",
  ],
  ["in another", "<p><noscript>a<noscript>b</noscript>c", "<head></head><body><p><noscript>ab</noscript>c</p></body>"],
  [
    "in a picture",
    "<p><svg><noscript>a</noscript></svg>b",
    "<head></head><body><p><svg><noscript>a</noscript></svg>b</p></body>",
  ],
  [
    "in frames",
    "<frameset><noframes><p>a</noframes><frame></frameset>",
    "<head></head><body><noscript><p>a</p></noscript></body>",
  ],
  [
    "for browsers without plugins",
    "<p>a<noembed><p>b</noscript>c</noembed>d",
    "<head></head><body><p>a<noscript><p>bc</p></noscript>d</p></body>",
  ],
])("a fallback begins and ends nothing else: %s", (_, html, expected) => {
  expect(parsePage(html).root().children().html()).toBe(expected);
});

test("the attributes of a further tag belong to the page's first html and body, and what follows their ends, too", () => {
  const html =
    "<html lang=de><body class=a><p>b</p></body><html lang=en dir=ltr><body class=c id=d><p>e</p></body></html>f";
  expect(parsePage(html).html()).toBe(
    '<html lang="de" dir="ltr"><head></head><body class="a" id="d"><p>b</p><p>e</p>f</body></html>',
  );
});

const tags = [
  ..."a b i p div span h1 h2 ul li dl dd dt table caption colgroup tbody thead tr td th svg math mi desc title template button br img col select option".split(
    " ",
  ),
  ..."body html head form script style textarea xmp iframe plaintext foreignObject input pre nobr font image".split(
    " ",
  ),
].flatMap((name) => [`<${name}>`, `<${name} a=b>`, `</${name}>`, `</${name} >`, `<${name}/>`]);
const signs = [
  "<!--",
  "-->",
  "--!>",
  "<![CDATA[",
  "]]>",
  "<!doctype html>",
  "<script",
  "&amp",
  "&lt;",
  "&#65",
  "--",
  ..."<>/!-='\" &?",
];

test("whatever a page is, it becomes the tree that parse5 makes of it", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constantFrom(...tags), fc.constantFrom(...signs), fc.constantFrom("word", "\r\n")), {
        maxLength: 30,
      }),
      (parts) => {
        const html = parts.join("");
        const expected = parse(html, { scriptingEnabled: false, treeAdapter: adapter });
        expect(shapeOf(parsePage(html).root()[0] as AnyNode)).toBe(shapeOf(expected));
      },
    ),
    { numRuns: 3_000 },
  );
});

/** A tree without comments and white space: in a comment's place the text around it is one. */
function shapeOf(node: AnyNode): string {
  if (isText(node)) return node.data.replaceAll(/\s+/g, "");
  if (isComment(node) || isDirective(node) || !isParent(node)) return "";
  const inside = node.children.map(shapeOf).join("");
  return isElement(node) ? `<${node.name.toLowerCase()} ${JSON.stringify(node.attribs)}>${inside}</>` : inside;
}

test("beyond 400 elements in each other the text keeps its order, and what ends them ends nothing else", () => {
  const page = parsePage(`<main>${"<div>a<b>b".repeat(1_000)}<script>x</script>${"</b></div>".repeat(1_000)}c</main>d`);
  expect(page("main").text()).toBe(`${"ab".repeat(1_000)}xc`);
  expect(page("script").text()).toBe("x");
});

test("marks that nobody closes are carried into each block behind, but never many", () => {
  const page = parsePage(Array.from({ length: 2_000 }, (_, i) => `<div><font size=${i}>a</div>`).join(""));
  expect(page("font").length).toBeLessThan(20_000);
  expect(page("body").text()).toBe("a".repeat(2_000));
});

test.each([
  ["60 000 cells", `<table>${"<td>a".repeat(60_000)}${"</tr>".repeat(60_000)}`],
  ["text beside cells", `<table>${"a<b>b</b><tr>".repeat(30_000)}`],
  ["200 000 attributes", `<p ${Array.from({ length: 200_000 }, (_, i) => `a${i}=1`).join(" ")}>`],
  ["an attribute of many characters", `<p a="${"x".repeat(5_000_000)}">`],
  ["tags that nothing ends", "<a b='".repeat(200_000)],
  ["comments that nothing ends", "<!--".repeat(500_000)],
  ["ends of scripts that are none", `<script>${"</script".repeat(300_000)}`],
  ["white space in a tag", `<a${" ".repeat(2_000_000)}b${" ".repeat(2_000_000)}=`],
])("%s: the time grows with the page", (_, html) => {
  expect(() => parsePage(html)).not.toThrow();
});
