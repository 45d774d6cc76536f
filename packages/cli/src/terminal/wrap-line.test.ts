import { expect, test } from "vitest";
import { wrapLine } from "./wrap-line.ts";

test("a line is broken between words at a terminal, and is one line in a pipe or a very narrow terminal", () => {
  const text = "off   web_search. Set the setting BRAVE_API_KEY, or SEARXNG_URL.";
  expect(wrapLine(text, { columns: 36 }, { indent: 6 }).split("\n")).toEqual([
    "off   web_search. Set the setting",
    "      BRAVE_API_KEY, or SEARXNG_URL.",
  ]);
  expect(wrapLine(text, {}, { indent: 6 })).toBe(text);
  expect(wrapLine(text, { columns: 20 }, { indent: 6 })).toBe(text);
});

test("a wide character takes two columns, an emoji of several code points no more", () => {
  const wrap = (text: string) => wrapLine(text, { columns: 24 }, { indent: 4 }).split("\n");
  expect(wrap("off ツールツール ツールツール")).toEqual(["off ツールツール", "    ツールツール"]);
  expect(wrap("off 👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦 👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦")).toHaveLength(1);
});
