import { CatchBoundary, Link } from "@tanstack/react-router";
import { lazy, Suspense, useMemo, useRef, useState } from "react";
import { callTool, type End } from "../../api/playground.ts";
import type { Tool } from "../../api/types.ts";
import { AnswerView } from "../../look/answer.tsx";
import { Badge } from "../../look/badge.tsx";
import { ConfirmCall } from "../confirm-call.tsx";
import { type ArgumentFault, argumentFaults } from "./argument-faults.ts";
import { firstArguments } from "./first-arguments.ts";
import { formSchema } from "./form-schema.ts";

const SchemaForm = lazy(async () => ({ default: (await import("./schema-form.tsx")).SchemaForm }));

type Args = Readonly<Record<string, unknown>>;
const NO_FAULTS: readonly ArgumentFault[] = [];

/** Calls a tool with arguments that are filled in. */
export function Playground({ tool, callers }: { readonly tool: Tool; readonly callers: readonly string[] }) {
  const [text, setText] = useState(() => JSON.stringify(firstArguments(tool.inputSchema), undefined, 2));
  const [as, setAs] = useState(callers[0] ?? "");
  const [isAsking, setAsking] = useState(false);
  const [isChecked, setChecked] = useState(false);
  const { said, end, isRunning, call, stop } = useCall(tool.name, as);
  const args = useMemo(() => objectIn(text), [text]);
  const form = useMemo(() => formSchema(tool.inputSchema), [tool.inputSchema]);
  const faults = useMemo(
    () => (isChecked && args !== undefined && "schema" in form ? argumentFaults(form.schema, args) : NO_FAULTS),
    [isChecked, args, form],
  );
  const callNow = () => {
    if (args === undefined) return;
    if (tool.readOnly === true) void call(args);
    else setAsking(true);
  };
  const checkAndCall = () => {
    setChecked(true);
    if (args === undefined || !("schema" in form) || argumentFaults(form.schema, args).length === 0) callNow();
  };
  return (
    <section className="card">
      <h2>Try it</h2>
      <label className="row">
        <span className="quiet">as the caller</span>
        <select value={as} onChange={({ target }) => setAs(target.value)}>
          {callers.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <Arguments form={form} text={text} args={args} faults={faults} onText={setText} />
      <Faults faults={faults} />
      <div className="row">
        <button type="button" className="first" disabled={args === undefined || isRunning} onClick={checkAndCall}>
          Call
        </button>
        {faults.length > 0 && !isRunning ? (
          <button type="button" onClick={callNow}>
            Call all the same
          </button>
        ) : null}
        {isRunning ? (
          <button type="button" className="bad" onClick={stop}>
            Stop
          </button>
        ) : null}
      </div>
      <ConfirmCall
        tool={tool.name}
        as={as}
        isOpen={isAsking}
        onOpenChange={setAsking}
        onYes={() => void call(args ?? {})}
      />
      <div aria-live="polite">
        {said.length === 0 ? null : <pre>{said.join("\n")}</pre>}
        {end === undefined ? null : <EndView end={end} />}
      </div>
    </section>
  );
}

/** The arguments as a form or as JSON; each view has what the other one was given. */
function Arguments({
  form,
  text,
  args,
  faults,
  onText,
}: {
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
      <fieldset className="row" aria-label="How arguments are written">
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
          <span className="quiet">arguments, as JSON</span>
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
          The arguments are no JSON object yet.
        </p>
      ) : null}
    </>
  );
}

function Faults({ faults }: { readonly faults: readonly ArgumentFault[] }) {
  if (faults.length === 0) return null;
  return (
    <div role="alert" className="is-bad breaks">
      The arguments do not fit the tool's schema:
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

function objectIn(text: string): Args | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Args) : undefined;
  } catch {
    return undefined;
  }
}

/** Makes calls of a tool, one at a time, and has what is said of the last one. */
function useCall(name: string, as: string) {
  const [said, setSaid] = useState<readonly string[]>([]);
  const [end, setEnd] = useState<End>();
  const [isRunning, setRunning] = useState(false);
  const running = useRef<AbortController>(undefined);
  const call = async (args: object) => {
    setSaid([]);
    setEnd(undefined);
    setRunning(true);
    const stop = new AbortController();
    running.current = stop;
    const onProgress = (message: string) => setSaid((before) => [...before, message].slice(-100));
    try {
      setEnd(await callTool(name, args, { as, signal: stop.signal, onProgress }));
    } catch (error) {
      const message = stop.signal.aborted ? "Stopped: the call was cancelled." : (error as Error).message;
      setEnd({ kind: "error", code: stop.signal.aborted ? "cancelled" : "refused", message });
    } finally {
      setRunning(false);
    }
  };
  return { said, end, isRunning, call, stop: () => running.current?.abort() };
}

function EndView({ end }: { readonly end: End }) {
  const id = end.kind === "answer" ? end.answer.toolCallId : end.toolCallId;
  return (
    <>
      <p className="row">
        {end.kind === "error" ? (
          <Badge tone="bad">{end.code}</Badge>
        ) : (
          <Badge tone={end.answer.isError ? "warn" : "good"}>
            {end.answer.isError ? "the tool failed" : "answered"}
          </Badge>
        )}
        {id === undefined ? null : (
          <Link to="/calls/$id" params={{ id }}>
            what happened
          </Link>
        )}
      </p>
      {end.kind === "error" ? <pre>{end.message}</pre> : <AnswerView text={end.answer.content ?? ""} />}
    </>
  );
}
