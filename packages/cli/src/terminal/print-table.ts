import { printable } from "@rockbot/contracts";

/** Prints rows of cells in even columns, the head to stderr. What others have written is made safe. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const cells = rows.map((row) => row.map((cell) => printable(cell.replaceAll(/\s+/g, " "), 60)));
  const widths = head.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row.reduce((text, cell, column) => `${text}${cell.padEnd(widths[column] ?? 0)}  `, "").trimEnd();
  if (rows.length > 0) console.error(line(head));
  for (const row of cells) console.log(line(row));
}
