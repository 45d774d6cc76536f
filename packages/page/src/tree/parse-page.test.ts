import fc from "fast-check";
import { expect, test } from "vitest";
import { parsePage } from "./parse-page.ts";

test.each([
  ["a row", "<table><tr><td>a", "<table><tbody><tr><td>a</td></tr></tbody></table>"],
  ["cells", "<table><td>a<td>b<tr><th>c</table>d", "<table><tbody><tr><td>a</td><td>b</td></tr><tr><th>c</th></tr></tbody></table>d"],
  ["cells of a head", "<table><thead><th>a<tbody><td>b</table>", "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>b</td></tr></tbody></table>"],
  ["columns", "<table><col><col><tr><td>a</table>", "<table><colgroup><col><col></colgroup><tbody><tr><td>a</td></tr></tbody></table>"],
  [
    "a table in a cell",
    "<table><td>a<table><td>b</tr>c</table>d</table>e",
    "<table><tbody><tr><td>a<table><tbody><tr><td>b</td></tr>c</tbody></table>d</td></tr></tbody></table>e",
  ],
  [
    "the end of a part that is not open",
    "<table><tr><td><table><td>a</th></table>b</table>",
    "<table><tbody><tr><td><table><tbody><tr><td>a</td></tr></tbody></table>b</td></tr></tbody></table>",
  ],
  ["cells of a head that has no row", "<table><thead><td>a<td>b</table>", "<table><thead><tr><td>a</td><td>b</td></tr></thead></table>"],
  ["cells behind an end tag with white space", "<table><tr></th ><td>a<td>b</table>", "<table><tbody><tr><td>a</td><td>b</td></tr></tbody></table>"],
  ["cells beside any table", "<div><td>a</td>b</div>", "<div><td>a</td>b</div>"],
])("a browser's parts of a table stand around %s", (_, html, expected) => {
  expect(parsePage(html).html()).toBe(expected);
});

test.each([
  ["of a block in a cell", "<div><table><tr><td>a</div>b</table>c</div>d", "<div><table><tbody><tr><td>ab</td></tr></tbody></table>c</div>d"],
  ["of a heading of another rank", "<h2>a</h3>b", "<h2>a</h2>b"],
  ["of what a block stands in", "<span><p>a</span>b</p>c</span>d", "<span><p>ab</p>c</span>d"],
  ["of a list's item in a list of its own", "<ul><li>a<ol>b</li>c</ol></li></ul>", "<ul><li>a<ol>bc</ol></li></ul>"],
  ["of a template with cells", "<template><tr><td>a</template>b", "<template><tr><td>a</td></tr></template>b"],
  ["that nothing begins", "a</p>b</br>c</i>d", "a<p></p>b<br>cd"],
])("an end tag ends what it ends in a browser: %s", (_, html, expected) => {
  expect(parsePage(html).html()).toBe(expected);
});

test.each([
  ["a heading", "<h1>a<h2>b", "<h1>a</h1><h2>b</h2>"],
  ["a paragraph, whatever is open in it", "<p><span>a<div>b</div>", "<p><span>a</span></p><div>b</div>"],
  ["no paragraph with a link that goes on", "<p><a href=x><div>a</div></a>", '<p><a href="x"><div>a</div></a></p>'],
  ["no paragraph around a table", "<p>a<table><td><p>b</table>", "<p>a</p><table><tbody><tr><td><p>b</p></td></tr></tbody></table>"],
  ["a paragraph, behind a body tag that begins nothing", "<body><p>a<body><div>b</div>", "<body><p>a</p><div>b</div></body>"],
  ["an item with marks", "<ul><li><b>a<li>b</ul>", "<ul><li><b>a</b></li><li>b</li></ul>"],
  ["a definition with a paragraph", "<dl><dd><p>a<dt>b</dl>", "<dl><dd><p>a</p></dd><dt>b</dt></dl>"],
])("a begin tag ends what it ends in a browser: %s", (_, html, expected) => {
  expect(parsePage(html).html()).toBe(expected);
});

test("the attributes of a further tag belong to the page's first html and body, and what follows their ends, too", () => {
  const html = "<html lang=de><body class=a><p>b</p></body><html lang=en dir=ltr><body class=c id=d><p>e</p></body></html>f";
  expect(parsePage(html).html()).toBe('<html lang="de" dir="ltr"><body class="a" id="d"><p>b</p><p>e</p>f</body></html>');
});

const names = "body html head p a b div span h1 h2 ul li dl dd dt table caption colgroup tbody thead tr td th svg math title template button br img col".split(
  " ",
);
const tags = names.flatMap((name) => [`<${name}>`, `</${name}>`, `</${name} >`, `<${name}/>`]);
test("whatever tags there are, the parser ends, and keeps each word in its place", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...tags, "word"), { maxLength: 40 }), (parts) => {
      const html = ["<body>", ...parts].map((part, i) => (part === "word" ? ` word${i} ` : part)).join("");
      expect(
        parsePage(html)
          .root()
          .text()
          .match(/word\d+/g),
      ).toEqual(html.match(/word\d+/g));
    }),
    { numRuns: 3_000 },
  );
});

test("60 000 cells that nobody closes are parsed in time that grows with them", () => {
  const page = parsePage(`<table>${"<td>a".repeat(60_000)}${"</tr>".repeat(60_000)}`);
  expect(page("tbody > tr > td").length).toBe(60_000);
});
