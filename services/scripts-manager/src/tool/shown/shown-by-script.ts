import { isRecord } from "@rockbot/base";
import { counted, type ToolExecutePythonScriptOutput, visibleText } from "@rockbot/contracts";
import type { ScriptOutcome } from "@rockbot/sandbox";
import type { FilesOfScript } from "../script-files.ts";
import { chartSpec, jsonObject } from "./chart-spec.ts";

/** What a script may show besides its output, in bytes. */
export const MAX_SHOWN_BYTES = 384 * 1024;

const MAX_TEXT = 8_192;
const MAX_TYPE = 200;
const MAX_ROWS = 20;
const MAX_COLUMNS = 30;
const MAX_CELL = 200;
const MAX_CHARTS = 10;
const MAX_REFUSED = 4_000;
const MAX_NOTES = 10;
const MAX_NOTE = 300;

/** What a script has shown, as fields of its answer. */
export type ShownFields = Pick<ToolExecutePythonScriptOutput, "value" | "charts" | "shown_notes">;

type ScriptValue = NonNullable<ShownFields["value"]>;
type ScriptChart = NonNullable<ShownFields["charts"]>[number];
type ScriptTable = NonNullable<ScriptValue["table"]>;

/**
 * Reads what a script has shown. Its own process wrote that, so it may be anything: what is not of the known form is left
 * out, and the notes say so.
 */
export function shownByScript(
  { shown, exitCode }: Pick<ScriptOutcome, "shown" | "exitCode">,
  files: Pick<FilesOfScript, "left" | "pictures"> | undefined,
): ShownFields {
  if (shown === undefined || exitCode !== 0) return {};
  const said = jsonObject(shown.toString());
  if (said === undefined) return { shown_notes: [NO_FORM] };
  const notes = listOf(said["notes"], MAX_NOTES).map((note) => visibleText(textOf(note, MAX_NOTE)));
  const value = shownValue(said["value"]);
  if (value === undefined && said["value"] !== undefined) notes.push(NO_FORM);
  const charts = listOf(said["charts"], MAX_CHARTS).flatMap((chart) => {
    const read = chartOf(chart, files);
    if (typeof read !== "string") return [read];
    notes.push(read);
    return [];
  });
  notes.push(...countsOf(said));
  return {
    ...(value === undefined ? {} : { value }),
    ...(charts.length === 0 ? {} : { charts }),
    ...(notes.length === 0 ? {} : { shown_notes: notes.slice(-MAX_NOTES) }),
  };
}

const NO_FORM = "What the script shows is not here: it has not the form of a value.";

/** A chart, or why there is none. */
function chartOf(said: unknown, files: Pick<FilesOfScript, "left" | "pictures"> | undefined): ScriptChart | string {
  const { file, kind, spec } = objectOf(said);
  if (typeof spec === "string" && (kind === "plotly" || kind === "vega")) {
    const read = chartSpec(kind, spec);
    return "refused" in read
      ? {
          kind: read.kind,
          refused: `The chart is not given as data: ${read.refused}.`,
          text: textOf(spec, MAX_REFUSED),
        }
      : { kind: read.kind, spec: read.spec };
  }
  if (typeof file !== "string") return NO_FORM;
  const name = JSON.stringify(visibleText(textOf(file, MAX_TYPE)));
  const left = files?.left.find((one) => one.name === file);
  if (left === undefined) return `The picture ${name} is not shown: it is not among the files.`;
  const size = files?.pictures.get(file);
  if (size === undefined) return `The picture ${name} is not shown: its bytes are no PNG image.`;
  return { kind: "png", file: left.handle, name: left.name, ...size };
}

function countsOf({ unkept, beyond }: Readonly<Record<string, unknown>>): string[] {
  return [
    ...(isCount(unkept) && unkept > 0
      ? [`Not kept, as scripts leave no files here: ${counted(unkept, "picture")}.`]
      : []),
    ...(isCount(beyond) && beyond > 0
      ? [`Not kept, as a script shows ${counted(MAX_CHARTS, "chart")} at most: ${beyond} more.`]
      : []),
  ];
}

function shownValue(said: unknown): ScriptValue | undefined {
  const { type, text, isCut, table } = objectOf(said);
  if (typeof type !== "string" || typeof text !== "string") return undefined;
  const shownTable = tableOf(table);
  return {
    type: textOf(type, MAX_TYPE),
    text: textOf(text, MAX_TEXT),
    is_cut: isCut === 1 || text.length > MAX_TEXT,
    ...(shownTable === undefined ? {} : { table: shownTable }),
  };
}

function tableOf(said: unknown): ScriptTable | undefined {
  const { columns, index, rows, rowCount, columnCount } = objectOf(said);
  const [shownRows, shownColumns] = [listOf(rows, MAX_ROWS), cellsOf(columns, MAX_COLUMNS)];
  if (!isCount(rowCount) || !isCount(columnCount)) return undefined;
  return {
    columns: shownColumns,
    index: cellsOf(index, shownRows.length),
    rows: shownRows.map((row) => cellsOf(row, shownColumns.length)),
    row_count: rowCount,
    column_count: columnCount,
  };
}

const cellsOf = (said: unknown, most: number): string[] => listOf(said, most).map((cell) => textOf(cell, MAX_CELL));

const objectOf = (said: unknown): Readonly<Record<string, unknown>> => (isRecord(said) ? said : {});

const listOf = (said: unknown, most: number): readonly unknown[] => (Array.isArray(said) ? said.slice(0, most) : []);

const textOf = (said: unknown, most: number): string =>
  typeof said === "string" ? said.slice(0, most).toWellFormed() : "";

const isCount = (said: unknown): said is number => Number.isSafeInteger(said) && (said as number) >= 0;
