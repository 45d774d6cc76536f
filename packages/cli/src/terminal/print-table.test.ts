import { expect, test } from "vitest";
import { tableLines } from "./print-table.ts";

const columns = [
  { title: "task" },
  { title: "took", isRight: true },
  { title: "about", least: 6 },
  { title: "id", least: 8, isId: true },
];
const rows = [
  ["read-the-news", "12 ms", "日本 news\nof today, \u001b[2Jread aloud", "0123456789abcdef0123456789abcdef"],
  ["tea", "3 ms", "", "f".repeat(32)],
];
const WHOLE = [
  "task            took  about                                    id",
  "read-the-news  12 ms  日本 news of today, \\u001b[2Jread aloud  0123456789abcdef0123456789abcdef",
  `tea             3 ms                                           ${"f".repeat(32)}`,
];

test.each([
  ["a pipe gets all of each cell", {}, WHOLE],
  ["a terminal that does not know its size does, too", { columns: 0 }, WHOLE],
  [
    "a terminal gets lines that fit, of ids a beginning without a mark",
    { columns: 50 },
    [
      "task            took  about          id",
      "read-the-news  12 ms  日本 news of…  0123456789abc",
      "tea             3 ms                 fffffffffffff",
    ],
  ],
  [
    "names are never cut, nor ids below what tells them apart",
    { columns: 10 },
    [
      "task            took  about   id",
      "read-the-news  12 ms  日本 …  01234567",
      "tea             3 ms          ffffffff",
    ],
  ],
])("a table: %s", (_, terminal, lines) => {
  expect(tableLines(columns, rows, terminal)).toEqual(lines);
});
