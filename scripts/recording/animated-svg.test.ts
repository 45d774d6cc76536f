import { expect, test } from "vitest";
import { animatedSvg } from "./animated-svg.ts";
import { screenLines } from "./screen-lines.ts";

const shown = [
  { atMs: 100, text: "\u001b[?2004h$ l" },
  { atMs: 130, text: "z\b" },
  { atMs: 160, text: "s\r\n" },
  { atMs: 9000, text: "\u001b[33mWARN \u001b[39ma & b\r\nfour" },
];

test("lines have their colours, what was typed has its times, and long lines wrap", () => {
  expect(screenLines(shown, 7)).toEqual([
    [
      { column: 0, text: "$ l", color: undefined, atMs: 100 },
      { column: 3, text: "s", color: undefined, atMs: 160 },
    ],
    [
      { column: 0, text: "WARN ", color: 33, atMs: 9000 },
      { column: 5, text: "a ", color: undefined, atMs: 9000 },
    ],
    [{ column: 0, text: "& b", color: undefined, atMs: 9000 }],
    [{ column: 0, text: "four", color: undefined, atMs: 9000 }],
  ]);
});

test("the picture has the text escaped, cuts long pauses, scrolls what does not fit, and has no script", () => {
  const svg = animatedSvg([{ title: "<one>", rows: 2, lines: screenLines(shown, 40) }], { columns: 40, label: "it" });
  expect(svg).toContain("&lt;one&gt;");
  expect(svg).toContain("a &amp; b");
  expect(svg).toContain("animation-duration: 7560ms"); // 300 before, 60 of typing, 1200 instead of 8840, 6000 at the end
  expect(svg).toContain(".scroll0 { transform: translateY(-19px)");
  expect(svg).not.toMatch(/<script|href=|url\(/);
});
