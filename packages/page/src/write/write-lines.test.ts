import { expect, test } from "vitest";
import { toMarkdown } from "../to-markdown.ts";

const markdownOf = (html: string, isWhole = false): string =>
  toMarkdown(html, "https://example.com/", { isWhole }).markdown;

test.each([
  ["<p>One<div></div>two</p>", "One\n\ntwo"],
  ["One<div><span></span></div><p></p>two", "One\n\ntwo"],
  ["<i>One<p></p></i>two", "One\n\ntwo"],
  ["<p><i>One<p></p></i></p>two", "*One*\n\ntwo"],
  ["One<script>x()</script>two", "Onetwo"],
  ["One<span></span>two", "Onetwo"],
  ["One<div hidden>three</div>two", "Onetwo"],
  ["One<noscript>Turn scripts on</noscript>two, and more words", "Onetwo, and more words"],
])("words that a block parts stay apart, though nothing is in it: %s", (html, expected) => {
  expect(markdownOf(html)).toBe(expected);
});

test("what is cut between words leaves them apart", () => {
  expect(markdownOf("One<nav>Menu</nav>two, and the text of the page")).toBe("One\n\ntwo, and the text of the page");
});

test.each([
  ["<b>One</b><strong>two</strong>", "**Onetwo**"],
  ["<i>One </i><em>two</em>", "*One two*"],
  ["<b>One</b> <b>two</b>", "**One** **two**"],
  ["<b>One</b><i>two</i>", "**One***two*"],
])("marks of one kind side by side are one: %s", (html, expected) => {
  expect(markdownOf(html)).toBe(expected);
});

test.each([
  ["blocks", "<p>Run</p><code><div>if a:</div><div>&nbsp; b()</div></code>", "Run\n\n```\nif a:\n  b()\n```"],
  ["breaks", "<code>cd a<br>\n   ls</code>", "```\ncd a\nls\n```"],
  [
    "breaks in a cell",
    "<table><tr><th>a<th>b<tr><td><code>cd a<br>ls</code><td>c</table>",
    "| a | b |\n| --- | --- |\n| `cd a`<br>`ls` | c |",
  ],
  ["breaks in a link", "<a href=/x><code>cd a<br>ls</code></a>", "[`cd a ls`](https://example.com/x)"],
  ["a break at its end", "<p>Run <code>cd a<br></code></p>", "Run `cd a `"],
])("lines of code stay lines: %s", (_, html, expected) => {
  expect(markdownOf(html)).toBe(expected);
});

test("code around headings and lists is no code", () => {
  expect(markdownOf("<code><h2>One</h2><ul><li>two</ul></code>")).toBe("## One\n\n- two");
});

test("code keeps its super- and subscripts", () => {
  expect(markdownOf("<p>It takes <code>O(n<sup>2</sup> &lt;b&gt; a*b)</code></p>")).toBe(
    "It takes <code>O(n<sup>2</sup> \\<b> a\\*b)</code>",
  );
});

test("a link around another goes around what stands before that", () => {
  const html = "<div><a href=/card>One <b>two</b><table><td>three<a href=/tag>four</a>five</table>six</a></div>";
  expect(markdownOf(html)).toBe(
    "[One **two**](https://example.com/card)\n\n[three](https://example.com/card)[four](https://example.com/tag)five\n\nsix",
  );
});

test("a link that the next ends goes on in each block until then, as in a browser", () => {
  const html = "<div><a href=/card>One<p>two <a href=/tag>three</a> four</div>";
  expect(markdownOf(html)).toBe(
    "[One](https://example.com/card)\n\n[two](https://example.com/card) [three](https://example.com/tag) four",
  );
});
