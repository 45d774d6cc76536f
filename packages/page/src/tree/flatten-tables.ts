import type { CheerioAPI } from "cheerio/slim";
import { ancestorsOf, type Element, elementsBelow, isElement, type ParentNode, setChildren } from "./dom.ts";

/** Beyond this a cell spans one column: the number is the page's word, and each column costs a bar in every row. */
const MAX_SPAN = 20;
/** Larger tables are not filled up to a rectangle. */
const MAX_CELLS = 50_000;

/**
 * Prepares tables for markdown, where each has a header row, rows of equal length, and one line for a cell. A table
 * without a header row gets an empty one, for its first row may well be data. A table that only lays out, with one
 * column or row or with tables or code inside, is taken apart into its cells.
 */
export function flattenTables($: CheerioAPI, root: ParentNode): void {
  const tables = elementsBelow(root, "table");
  const holders = new Set(tables.flatMap((table) => tableAround(table) ?? []));
  // Innermost first: the tables in a layout table are taken apart before it.
  for (const table of tables.reverse()) {
    const parts = elementsBelow(table, "pre", "caption", "thead", "tbody", "tfoot", "tr", "td", "th").filter((part) => tableAround(part) === table);
    const rows = parts.filter(({ name }) => name === "tr").map((element) => ({ element, cells: cellsOf(element) }));
    if (holders.has(table) || isLayout(table, parts, rows)) for (const part of [table, ...parts]) part.name = layoutName[part.name] ?? part.name;
    else flatten($, table, parts, rows);
  }
}

const tableAround = (element: Element): Element | undefined => [...ancestorsOf(element)].find(({ name }) => name === "table");

interface Row {
  readonly element: Element;
  readonly cells: readonly Element[];
}

const layoutName: Readonly<Record<string, string>> = {
  table: "div",
  caption: "div",
  thead: "div",
  tbody: "div",
  tfoot: "div",
  tr: "div",
  td: "div",
  th: "div",
};

function isLayout({ attribs }: Element, parts: readonly Element[], rows: readonly Row[]): boolean {
  if (attribs["role"] === "presentation" || attribs["role"] === "none") return true;
  if (parts.some(({ name }) => name === "pre")) return true;
  const columns = rows.reduce((most, { cells }) => Math.max(most, cells.length), 0);
  return columns < 2 || (rows.length < 2 && !rows.some(({ cells }) => cells.some(({ name }) => name === "th")));
}

const cellsOf = (row: Element): Element[] => row.children.filter(isElement).filter(({ name }) => name === "td" || name === "th");

function flatten($: CheerioAPI, table: Element, parts: readonly Element[], rows: readonly Row[]): void {
  const lengths = rows.map(({ cells }) => cells.reduce((length, cell) => length + spanOf(cell), 0));
  const widest = lengths.reduce((most, length) => Math.max(most, length), 0);
  const isHuge = widest * rows.length > MAX_CELLS;
  const columns = isHuge ? (lengths[0] ?? 0) : widest;
  const blank = (count: number): Element[] => Array.from({ length: Math.max(0, count) }, () => $("<td></td>")[0] as Element);

  const lines: Element[] = [];
  const [first] = rows;
  const hasHeader = first !== undefined && ([...ancestorsOf(first.element)][0]?.name === "thead" || first.cells.every(({ name }) => name === "th"));
  if (!hasHeader) lines.push(rowOf(blank(columns)));
  rows.forEach(({ cells }, i) => {
    if (cells.length === 0) return;
    for (const cell of cells) flattenCell($, cell);
    lines.push(rowOf([...cells.flatMap((cell) => [cell, ...blank(spanOf(cell) - 1)]), ...blank(isHuge ? 0 : columns - (lengths[i] ?? 0))]));
  });
  if (lines[0] !== undefined) lines[0].attribs["data-columns"] = String(columns);

  function rowOf(cells: readonly Element[]): Element {
    const row = $("<tr></tr>")[0] as Element;
    setChildren(row, cells);
    return row;
  }
  const caption = parts.find(({ name }) => name === "caption");
  if (caption !== undefined) $(table).before($("<p></p>").append($(caption).contents()));
  setChildren(table, lines);
}

function spanOf(cell: Element): number {
  const span = Number(cell.attribs["colspan"] ?? 1);
  return Number.isInteger(span) && span >= 1 && span <= MAX_SPAN ? span : 1;
}

/** Blocks become inline: a cell is one line. */
function flattenCell($: CheerioAPI, cell: Element): void {
  for (const block of elementsBelow(cell, "hr", "li", "ul", "ol", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6")) {
    if (block.name === "li") $(block).prepend("• ").append("<br>");
    block.name = block.name === "hr" ? "br" : /^h\d$/.test(block.name) ? "strong" : "span";
  }
}
