import { expect, test } from "vitest";
import { withoutComments } from "./without-comments.ts";

test.each([
  ["in a line", "a <!-- x --> b", "a  b"],
  ["over lines", "a\n<!--\nx\n\ny\n-->\nb", "a\n\nb"],
  ["that hold a fence", "<!--\n```\nx\n```\n-->\nb", "\nb"],
  ["that hold a sign of code", "<!-- ` -->a `b`<!-- ` -->", "a `b`"],
  ["without an end, from the start of a line", "a\n  <!-- x\n\ny", "a\n"],
  ["that are empty", "a<!-->b<!--->c", "abc"],
  ["between backticks of two paragraphs", "`a\n\n<!-- x -->\n\nb`", "`a\n\n\n\nb`"],
  ["that end a span of code", "`a\n<!-- x -->\nb`", "`a\n\nb`"],
  ["after a fence", "```\na\n```\n<!-- x -->b", "```\na\n```\nb"],
])("comments %s are left out", (_, text, seen) => {
  expect(withoutComments(text)).toBe(seen);
});

test.each([
  ["a fence", "```html\n<!-- a -->\n```"],
  ["a fence of tildes", "~~~\n<!-- a -->\n```\n<!-- b -->\n~~~"],
  ["a longer fence that holds another", "````md\n```\n<!-- a -->\n```\n````"],
  ["a fence that does not end", "```\n<!-- a -->\n```html"],
  ["a span of code", "the `<!--` of a comment, and its `-->`"],
  ["a span of two backticks", "``a ` <!-- b -->``"],
  ["a line, without an end", "a <!-- goes on\n\nb"],
])("what looks like a comment in %s is text", (_, text) => {
  expect(withoutComments(text)).toBe(text);
});

test("text of nothing but marks is read in steps that its length bounds", () => {
  const marks = ["a <!-- ", "<!-- -->", "```\n", "~~~a\n", "` `` ", "\n\n`", "<!--\n"];
  for (const mark of marks)
    expect(withoutComments(mark.repeat(20_000)).length, mark).toBeLessThanOrEqual(mark.length * 20_000);
});
