import { Link } from "@tanstack/react-router";
import { useMemo, useRef, useState } from "react";
import { callTool, type End } from "../../api/playground.ts";
import type { Tool } from "../../api/types.ts";
import { AnswerView } from "../../look/answer.tsx";
import { Badge } from "../../look/badge.tsx";
import { ConfirmCall } from "../confirm-call.tsx";
import { type ArgumentFault, argumentFaults } from "./argument-faults.ts";
import { Arguments, Faults, objectIn } from "./arguments.tsx";
import { firstArguments } from "./first-arguments.ts";
import { formSchema } from "./form-schema.ts";

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
