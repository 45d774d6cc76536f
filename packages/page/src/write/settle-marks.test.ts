import { expect, test } from "vitest";
import { toMarkdown } from "../to-markdown.ts";

const markdownOf = (html: string): string =>
  toMarkdown(`<p>${html}`, "https://example.com/", { isWhole: true }).markdown;

test.each([
  ["before a letter", "a<b>(b)</b>c", "a(b)c"],
  ["between words and space", "a <b>(b)</b> c", "a **(b)** c"],
  ["behind a colon", "<b>Note:</b>text", "**Note**:text"],
  ["with quotes", '<b>"a"</b>b c<i>“d”</i>', '**"a**"b c“d”'],
  ["side by side in different elements", "<b>a</b><span><b>b</b></span>", "**ab**"],
  ["of two kinds side by side", "<b>a</b><i>b</i>", "**a***b*"],
  ["of which readers make others", "<b>-a.</b><i>#<b>-</b></i>", "**-a.***#-*"],
  ["around words that are crossed out", "a<s><b>b</b></s>", "a**b**"],
  ["beside a sign of their kind", "a~<s>b</s>", "a\\~b"],
])("a mark is written where a reader of markdown sees one: %s", (_, html, markdown) => {
  expect(markdownOf(html)).toBe(markdown);
});

test.each([
  ["a number sign alone", "#", "\\#"],
  ["a number alone", "1.", "1\\."],
  ["an exclamation before a link", "Hello!<a href=/x>b</a>", "Hello\\![b](https://example.com/x)"],
  ["one before marks around a link", "Hello!<b><a href=/x>b</a></b>", "Hello\\!**[b](https://example.com/x)**"],
  ["a number sign at the end of a heading", "<h2>Learn F #</h2>", "## Learn F \\#"],
  ["tildes around words", "a~b~c ~/d", "a\\~b\\~c ~/d"],
])("what would be markup stays text: %s", (_, html, markdown) => {
  expect(markdownOf(html)).toBe(markdown);
});

test("40 000 marks side by side are settled in time that grows with them", () => {
  expect(markdownOf("a<b>(b)</b><i>c</i>".repeat(20_000))).toContain("(b)");
});
