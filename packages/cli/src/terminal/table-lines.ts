import { printable } from "@rockbot/contracts";

/** Rows of cells as lines of even columns, the head first. What others have written is made safe. */
export function tableLines(rows: readonly (readonly string[])[], maxCell = 60): readonly string[] {
  const cells = rows.map((row) => row.map((cell) => printable(cell.replaceAll(/\s+/g, " "), maxCell)));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
