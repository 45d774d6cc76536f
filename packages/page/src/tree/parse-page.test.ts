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
  ["cells beside any table", "<div><td>a</td>b</div>", "<div><td>a</td>b</div>"],
])("a browser's parts of a table stand around %s", (_, html, expected) => {
  expect(parsePage(html).html()).toBe(expected);
});

test("the attributes of a further tag belong to the page's first html and body, and what follows their ends, too", () => {
  const html = "<html lang=de><body class=a><p>b</p></body><html lang=en dir=ltr><body class=c id=d><p>e</p></body></html>f";
  expect(parsePage(html).html()).toBe('<html lang="de" dir="ltr"><body class="a" id="d"><p>b</p><p>e</p>f</body></html>');
});

test("60 000 cells that nobody closes are parsed in time that grows with them", () => {
  const page = parsePage(`<table>${"<td>a".repeat(60_000)}${"</tr>".repeat(60_000)}`);
  expect(page("tbody > tr > td").length).toBe(60_000);
});
