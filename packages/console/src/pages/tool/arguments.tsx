import { CatchBoundary } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import type { ArgumentFault } from "./argument-faults.ts";
import type { formSchema } from "./form-schema.ts";

const SchemaForm = lazy(async () => ({ default: (await import("./schema-form.tsx")).SchemaForm }));

type Args = Readonly<Record<string, unknown>>;

/** The arguments as a form or as JSON; each view has what the other one was given. */
export function Arguments({
  what = "arguments",
  form,
  text,
  args,
  faults,
  onText,
}: {
  /** What is written, as a word. */
  readonly what?: "arguments" | "answer";
  readonly form: ReturnType<typeof formSchema>;
  readonly text: string;
  readonly args: Args | undefined;
  readonly faults: readonly ArgumentFault[];
  readonly onText: (text: string) => void;
}) {
  const [isForm, setForm] = useState(true);
  const [broken, setBroken] = useState<string>();
  const why = "why" in form ? form.why : broken;
  const isShown = isForm && why === undefined && "schema" in form && args !== undefined;
  return (
    <>
      <fieldset className="row" aria-label={`How to write the ${what}`}>
        <button
          type="button"
          aria-pressed={isShown}
          disabled={why !== undefined || args === undefined}
          onClick={() => setForm(true)}
        >
          form
        </button>
        <button type="button" aria-pressed={!isShown} onClick={() => setForm(false)}>
          JSON
        </button>
      </fieldset>
      {why === undefined ? null : (
        <p className="quiet breaks">No form can be made of the tool's schema, so write JSON. {why}</p>
      )}
      {isShown ? (
        <CatchBoundary
          getResetKey={() => 0}
          onCatch={(error) => setBroken((error as Error).message)}
          errorComponent={() => null}
        >
          <Suspense fallback={<p className="quiet">Loading…</p>}>
            <SchemaForm
              schema={form.schema}
              args={args}
              faults={faults}
              onArgs={(value) => onText(JSON.stringify(value, undefined, 2))}
            />
          </Suspense>
        </CatchBoundary>
      ) : (
        <label className="field">
          <span className="quiet">{what}, as JSON</span>
          <textarea
            spellCheck={false}
            value={text}
            onChange={({ target }) => {
              setForm(false); // else the form would take the place of what is being typed
              onText(target.value);
            }}
          />
        </label>
      )}
      {args === undefined ? (
        <p role="alert" className="is-bad">
          This is no JSON object yet.
        </p>
      ) : null}
    </>
  );
}

export function Faults({
  what = "arguments",
  faults,
}: {
  readonly what?: "arguments" | "answer";
  readonly faults: readonly ArgumentFault[];
}) {
  if (faults.length === 0) return null;
  return (
    <div role="alert" className="is-bad breaks">
      {what === "answer" ? "The answer does" : "The arguments do"} not fit the tool's schema:
      <ul>
        {faults.map(({ path, words }) => (
          <li key={`${path.join("/")} ${words}`}>
            {path.length === 0 ? null : <code>{path.join(".")}</code>} {words}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** @returns undefined if the text is no JSON object */
export function objectIn(text: string): Args | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Args) : undefined;
  } catch {
    return undefined;
  }
}
