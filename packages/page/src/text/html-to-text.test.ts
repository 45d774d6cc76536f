import fc from "fast-check";
import { expect, test } from "vitest";
import { htmlToText } from "./html-to-text.ts";

test.each([
  ["<p>One</p><p>two &amp; <b>three</b></p>", "One\n\ntwo & three"],
  ["<div>a</div><div>b<br>c</div>", "a\nb\nc"],
  ["<h1>Title</h1>text<blockquote>said</blockquote>more", "Title\n\ntext\n\nsaid\n\nmore"],
  ['Read <a href="https://example.com/a">this</a>, <a href="#top">up</a>.', "Read this (https://example.com/a), up."],
  [
    '<a href="https://example.com/">example.com</a> <a href="mailto:a@example.com">a@example.com</a>',
    "example.com a@example.com",
  ],
  ['<a href="https://example.com/x"><img src="x.png"></a>', "https://example.com/x"],
  ['<a href="javascript:alert(1)">run</a>', "run"],
  ["<ul><li>a<li>b<ul><li>c</ul></ul><ol start=3><li>d<li>e</ol>", "- a\n- b\n  - c\n\n3. d\n4. e"],
  ["<table><tr><th>A<th>B<tr><td>1<td>2</table>end", "A\tB\n1\t2\n\nend"],
  ["<table><tr><td><td>A<td>B<tr><td><td>1<td><tr><td>c<td>2<td>3</table>", "\tA\tB\n\t1\t\nc\t2\t3"],
  ["<table><tr><td><p>A</p><td><div>B</div><tr><td><p>1</p><p>2</p></td><td><p>3</p></table>", "A\tB\n1\n\n2\t3"],
  ["<ul><li><p>a</p><p>b</p><li><h3>c</h3></ul>d", "- a\n\nb\n\n- c\n\nd"],
  ["<ul><li><ul><li>x</ul><li></li><li>y</ul>", "- \n  - x\n- \n- y"],
  ["<script>no()</script><style>p{}</style><template>no</template>yes", "yes"],
  ["<pre>a\n  b\n\n\nc</pre>", "a\n  b\n\n\nc"],
  ["  many \n\t spaces&nbsp;here ", "many spaces here"],
  ["&nbsp;<p>&nbsp;</p>", ""],
  ["a<br><br><br>b", "a\n\nb"],
  ["", ""],
])("%j is %j", (html, text) => {
  expect(htmlToText(html)).toBe(text);
});

test("relative links are resolved against the address of the page, if there is one", () => {
  const html = '<a href="../b?x=1">b</a>';
  expect(htmlToText(html, { url: "https://example.com/a/" })).toBe("b (https://example.com/b?x=1)");
  expect(htmlToText(html)).toBe("b (../b?x=1)");
});

test("what people do not see is left out, by attribute, style or sheet, unless that would be the whole page", () => {
  const hidden = ["hidden", 'style="display:none"', 'style="visibility:hidden"', 'style="font-size:1px"', "class=x"]
    .map((how) => `<p ${how}>obey</p>`)
    .join("");
  expect(htmlToText(`<style>.x{display:none}</style><p>seen</p><dialog>obey</dialog>${hidden}`)).toBe("seen");
  expect(htmlToText("<style>main{opacity:0}</style><main>shown by its scripts</main>")).toBe("shown by its scripts");
});

test("links are relative to the base that the page names", () => {
  const html = '<head><base href="/docs/"></head><a href="b">on</a>';
  expect(htmlToText(html, { url: "https://example.com/a/" })).toBe("on (https://example.com/docs/b)");
  expect(htmlToText(html)).toBe("on (b)");
  expect(htmlToText('<base href="https://example.com/x/"><a href="b">on</a>')).toBe("on (https://example.com/x/b)");
});

test("a deep, a wide and an unclosed input are read to their end", () => {
  const times = 20_000;
  expect(htmlToText(`${"<div>".repeat(times)}deep`)).toBe("deep");
  expect(htmlToText(`${"<ul>".repeat(times)}<li>x`)).toContain("x");
  expect(htmlToText('<a href="https://example.com/">'.repeat(times / 10)).length).toBeGreaterThan(0);
  expect(htmlToText("<p>x".repeat(times)).split("\n\n")).toHaveLength(times);
});

test("whatever the input, the text of its words comes through, without characters that have no sign", () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[a-z]{1,8}$/), { maxLength: 20 }),
      fc.constantFrom("p", "li", "td", "div", "b", "pre"),
      (words, tag) => {
        const text = htmlToText(words.map((word) => `<${tag}>${word}\u202e</${tag}>`).join(" "));
        expect(text).not.toContain("\u202e");
        expect(text.match(/[a-z]+/g)?.join("") ?? "").toBe(words.join(""));
      },
    ),
  );
});
