import { Element, Text } from "domhandler";
import {
  type AnyNode,
  ancestorsOf,
  elementsBelow,
  isElement,
  isParent,
  isText,
  type ParentNode,
  setChildren,
  textOf,
} from "./dom.ts";

/** Beyond this a cell spans one column: the number is the page's word, and each column costs a bar in every row. */
const MAX_SPAN = 20;
/** A cell that is longer, and holds most of its table's text, is a text of its own. In characters. */
const LONG_CELL = 1_500;
/** Larger tables are not filled up to a rectangle. */
const MAX_CELLS = 50_000;

/**
 * Prepares tables for markdown, where each has a header row, rows of equal length, and one line for a cell. A table
 * without a header row gets an empty one, for its first row may well be data. A table that only lays out, with one
 * column or row, with tables or code inside, or with most of its text in one long cell, is taken apart into its cells.
 * What stands in a table and in no cell goes before it, as in a browser.
 */
export function flattenTables(root: ParentNode): void {
  // Innermost first: the tables in a layout table are taken apart before it.
  for (const table of tablesIn(root).reverse()) {
    const rows = rowsOf(table.parts);
    if (table.holdsTable || isLayout(table, rows))
      for (const part of [table.element, ...table.parts]) part.name = "div";
    else flatten(table, rows);
  }
}

interface Table {
  readonly element: Element;
  /** What belongs to it and to no table inside. */
  readonly parts: Element[];
  holdsCode: boolean;
  holdsTable: boolean;
}

interface Row {
  /** What holds it. */
  readonly section: ParentNode | null;
  readonly cells: readonly Element[];
}

const partNames: ReadonlySet<string> = new Set(["caption", "thead", "tbody", "tfoot", "tr", "td", "th"]);

/** The tables in document order. */
function tablesIn(root: ParentNode): Table[] {
  const tables: Table[] = [];
  walk(root, undefined);
  return tables;

  function walk({ children }: ParentNode, table: Table | undefined): void {
    for (const child of children) {
      if (!isParent(child)) continue;
      let around = table;
      if (isElement(child)) {
        if (child.name === "table") {
          if (table !== undefined) table.holdsTable = true;
          around = { element: child, parts: [], holdsCode: false, holdsTable: false };
          tables.push(around);
        } else if (table !== undefined && child.name === "pre") table.holdsCode = true;
        else if (partNames.has(child.name)) table?.parts.push(child);
      }
      walk(child, around);
    }
  }
}

function isLayout({ element, holdsCode }: Table, rows: readonly Row[]): boolean {
  if (holdsCode || element.attribs["role"] === "presentation" || element.attribs["role"] === "none") return true;
  const lengths = rows.flatMap(({ cells }) => cells.map((cell) => textOf(cell).length));
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  if (longest > LONG_CELL && longest > lengths.reduce((sum, length) => sum + length, 0) / 2) return true;
  const columns = rows.reduce((most, { cells }) => Math.max(most, cells.length), 0);
  return columns < 2 || (rows.length < 2 && !rows.some(({ cells }) => cells.some(({ name }) => name === "th")));
}

/** Cells that stand in no row make rows as long as the first of the table. */
function rowsOf(parts: readonly Element[]): readonly Row[] {
  const rows: { readonly section: ParentNode | null; readonly cells: Element[] }[] = [];
  let holder: Element | undefined;
  for (const part of parts) {
    if (part.name === "tr") {
      rows.push({ section: part.parent, cells: [] });
      holder = part;
    } else if (isCell(part)) {
      const around = partAround(part);
      if (around === undefined || isCell(around)) continue;
      const isFull = around.name !== "tr" && rows.length > 1 && rows.at(-1)?.cells.length === rows[0]?.cells.length;
      if (around !== holder || isFull) rows.push({ section: around, cells: [] });
      holder = around;
      rows.at(-1)?.cells.push(part);
    }
  }
  return rows;
}

/** The part of the table that a cell stands in, or the table. */
function partAround(cell: Element): Element | undefined {
  for (const element of ancestorsOf(cell)) if (element.name === "table" || partNames.has(element.name)) return element;
  return undefined;
}

const isCell = ({ name }: Element): boolean => name === "td" || name === "th";

/** What stands in a table, or in its parts, and in no cell. */
function strays(parent: ParentNode): readonly AnyNode[] {
  return parent.children.flatMap((child) => {
    if (!isElement(child)) return isText(child) && child.data.trim() !== "" ? [child] : [];
    if (isCell(child) || child.name === "caption") return [];
    return partNames.has(child.name) || elementsBelow(child, ...partNames).length > 0 ? strays(child) : [child];
  });
}

function flatten({ element, parts }: Table, given: readonly Row[]): void {
  const outside = strays(element);
  const rows = withRowSpans(given);
  const lengths = rows.map(({ cells }) => cells.reduce((length, cell) => length + spanOf(cell), 0));
  const widest = lengths.reduce((most, length) => Math.max(most, length), 0);
  const isHuge = widest * rows.length > MAX_CELLS;
  const columns = isHuge ? (lengths[0] ?? 0) : widest;
  const lines: Element[] = [];
  const [first] = rows;
  const hasHeader = first !== undefined && (isHead(first.section) || first.cells.every(({ name }) => name === "th"));
  if (!hasHeader) lines.push(holderOf("tr", blank(columns)));
  rows.forEach(({ cells }, i) => {
    if (cells.length === 0) return;
    for (const cell of cells) flattenCell(cell);
    lines.push(
      holderOf("tr", [
        ...cells.flatMap((cell) => [cell, ...blank(spanOf(cell) - 1)]),
        ...blank(isHuge ? 0 : columns - (lengths[i] ?? 0)),
      ]),
    );
  });
  if (lines[0] !== undefined) lines[0].attribs["data-columns"] = String(columns);

  const caption = parts.find(({ name }) => name === "caption");
  if (caption === undefined && outside.length === 0) setChildren(element, lines);
  else {
    element.name = "div";
    const before = [holderOf("div", outside), holderOf("p", caption?.children ?? [])];
    setChildren(element, [...before.filter(({ children }) => children.length > 0), holderOf("table", lines)]);
  }
}

const blank = (count: number): Element[] => Array.from({ length: Math.max(0, count) }, () => new Element("td", {}, []));

/** Rows with an empty cell wherever one of an earlier row of their section reaches down. */
function withRowSpans(rows: readonly Row[]): readonly Row[] {
  if (!rows.some(({ cells }) => cells.some((cell) => spanOf(cell, "rowspan") > 1))) return rows;
  /** For each column: how many rows the cell above it still takes. */
  let below: number[] = [];
  let section: ParentNode | null = null;
  let blanks = 0;
  const spread: Row[] = [];
  for (const row of rows) {
    const { cells } = row;
    if (row.section !== section) below = [];
    ({ section } = row);
    const placed: Element[] = [];
    const next: number[] = [];
    for (const cell of [...cells, undefined]) {
      for (let left = below[next.length] ?? 0; left > 0; left = below[next.length] ?? 0) {
        next.push(left - 1);
        placed.push(...blank(1));
        if (++blanks > MAX_CELLS) return rows;
      }
      if (cell === undefined) break;
      placed.push(cell);
      next.push(...Array.from({ length: spanOf(cell) }, () => spanOf(cell, "rowspan") - 1));
    }
    below = next;
    spread.push({ section, cells: cells.length === 0 ? [] : placed });
  }
  return spread;
}

const isHead = (parent: ParentNode | null): boolean => parent !== null && isElement(parent) && parent.name === "thead";

function holderOf(name: string, children: readonly AnyNode[]): Element {
  const holder = new Element(name, {}, []);
  setChildren(holder, children);
  return holder;
}

function spanOf(cell: Element, name: "colspan" | "rowspan" = "colspan"): number {
  const span = Number(cell.attribs[name] ?? 1);
  return Number.isInteger(span) && span >= 1 && span <= (name === "colspan" ? MAX_SPAN : MAX_CELLS) ? span : 1;
}

/** Blocks become plain ones: a cell is one line, in which their ends are line breaks. */
function flattenCell(cell: Element): void {
  for (const block of elementsBelow(cell, "hr", "li", "ul", "ol", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6")) {
    if (block.name === "li") setChildren(block, [new Text(signOf(block)), ...block.children]);
    else if (/^h\d$/.test(block.name)) setChildren(block, [holderOf("strong", block.children)]);
    block.name = block.name === "hr" ? "br" : "div";
  }
}

/** What stands before an item: its number, or a dot. */
const signOf = ({ attribs }: Element): string => (attribs["data-marker"] ?? "- ").replace("- ", "• ");
