import { lazy, Suspense, useState } from "react";
import { Pre } from "./pre.tsx";

const Markdown = lazy(() => import("./markdown.tsx"));

type View = "table" | "JSON" | "Markdown" | "text";

/** A tool's answer: the form that fits it first, the text as it came always beside it. */
export function AnswerView({ text }: { readonly text: string }) {
  const value = jsonIn(text);
  const rows = rowsIn(value);
  const views: readonly View[] = [
    ...(rows === undefined ? [] : (["table"] as const)),
    ...(value === undefined ? (["Markdown"] as const) : (["JSON"] as const)),
    "text",
  ];
  const [chosen, setChosen] = useState<View>();
  const view = chosen !== undefined && views.includes(chosen) ? chosen : views[0];
  return (
    <>
      <fieldset className="row" aria-label="How the answer is shown">
        {views.map((name) => (
          <button key={name} type="button" aria-pressed={name === view} onClick={() => setChosen(name)}>
            {name}
          </button>
        ))}
      </fieldset>
      {view === "table" && rows !== undefined ? <Table rows={rows} /> : null}
      {view === "JSON" ? <Pre>{JSON.stringify(value, undefined, 2)}</Pre> : null}
      {view === "text" ? <Pre>{text}</Pre> : null}
      {view === "Markdown" ? (
        <Suspense fallback={<pre>{text}</pre>}>
          <Markdown text={text} />
        </Suspense>
      ) : null}
    </>
  );
}

function jsonIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

type Record_ = Readonly<Record<string, unknown>>;
const MAX_ROWS = 500;
const MAX_COLUMNS = 20;

/** A list of records, which is best read as a table. */
function rowsIn(value: object | undefined): readonly Record_[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const isRecord = (row: unknown): row is Record_ => typeof row === "object" && row !== null && !Array.isArray(row);
  return value.every(isRecord) ? value : undefined;
}

function Table({ rows }: { readonly rows: readonly Record_[] }) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, MAX_COLUMNS);
  return (
    <div className="card flush">
      <table>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_ROWS).map((row, index) => (
            <tr key={index}>
              {columns.map((name) => (
                <td key={name}>
                  {typeof row[name] === "object" ? JSON.stringify(row[name]) : String(row[name] ?? "")}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MAX_ROWS ? (
        <p className="quiet">
          The first {MAX_ROWS} of {rows.length} rows.
        </p>
      ) : null}
    </div>
  );
}
