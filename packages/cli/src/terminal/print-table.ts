import { columnsOf, fitLine } from "./fit-line.ts";
import { plainText } from "./plain-text.ts";

/** A column of a table. */
export interface Column {
  readonly title: string;
  /**
   * How narrow a narrow terminal may make it, in columns of the terminal. Without it nothing of it is cut: what other
   * commands take as an argument must be whole.
   */
  readonly least?: number;
  /** True if its cells are ids that other commands take by their beginning: a cut one has no ellipsis. */
  readonly isId?: boolean;
  readonly isRight?: boolean;
}

/** Prints rows of cells in even columns, the head to stderr. What others have written is made safe. */
export function printTable(columns: readonly Column[], rows: readonly (readonly string[])[]): void {
  const [head = "", ...lines] = tableLines(columns, rows, process.stdout);
  if (lines.length > 0) console.error(head);
  for (const line of lines) console.log(line);
}

/** The head and the rows, fitted to a terminal. A pipe has no columns, and gets all of each cell. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  terminal: { readonly columns?: number | undefined },
): readonly string[] {
  const cells = rows.map((row) => row.map((cell) => plainText(cell.replaceAll(/\s+/g, " "))));
  const all = [columns.map(({ title }) => title), ...cells];
  const widths = narrowed(
    columns.map((_, at) => Math.max(...all.map((row) => columnsOf(row[at] ?? "")))),
    { columns, room: (terminal.columns || Number.POSITIVE_INFINITY) - GAP.length * (columns.length - 1) },
  );
  return all.map((row) =>
    columns
      .map((column, at) => padded(row[at] ?? "", widths[at] ?? 0, column))
      .join(GAP)
      .trimEnd(),
  );
}

const GAP = "  ";

/** Takes from the widest column that can give, until all have room. */
function narrowed(
  wanted: readonly number[],
  { columns, room }: { readonly columns: readonly Column[]; readonly room: number },
): readonly number[] {
  const widths = [...wanted];
  for (let over = widths.reduce((sum, width) => sum + width, 0) - room; over > 0; over--) {
    const giving = widths.map((width, at) => (width > (columns[at]?.least ?? width) ? width : 0));
    const widest = Math.max(...giving);
    if (widest === 0) break;
    widths[giving.indexOf(widest)] = widest - 1;
  }
  return widths;
}

function padded(cell: string, width: number, { isId = false, isRight = false }: Column): string {
  const fitted = isId ? cell.slice(0, width) : fitLine(cell, { columns: width });
  const space = " ".repeat(Math.max(0, width - columnsOf(fitted)));
  return isRight ? `${space}${fitted}` : `${fitted}${space}`;
}
