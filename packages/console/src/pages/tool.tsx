import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { callTool, type End } from "../api/playground.ts";
import { me, tools } from "../api/queries.ts";
import type { Tool } from "../api/types.ts";
import { AnswerView } from "../look/answer.tsx";
import { Badge } from "../look/badge.tsx";
import { Needs } from "../look/needs.tsx";
import { Shown } from "../look/states.tsx";
import { ConfirmCall } from "./confirm-call.tsx";
import { firstArguments } from "./first-arguments.ts";

const route = getRouteApi("/tools/$name");

export function ToolPage() {
  const { name } = route.useParams();
  const asked = useQuery(tools);
  return (
    <>
      <div className="head">
        <h1>{name}</h1>
        <Link to="/calls" search={{ tool: name }}>
          its calls
        </Link>
      </div>
      <Shown of={asked}>
        {(all) => {
          const tool = all.find((one) => one.name === name);
          return tool === undefined ? <p>No service offers a tool of this name now.</p> : <Found tool={tool} />;
        }}
      </Shown>
    </>
  );
}

function Found({ tool }: { readonly tool: Tool }) {
  const { data: who } = useQuery(me);
  return (
    <>
      <section className="card">
        <p className="row">
          <span className="quiet">{tool.service}</span>
          {tool.dangerous === true ? <Badge tone="bad">dangerous</Badge> : null}
          {tool.readOnly === true ? <Badge tone="quiet">only reads</Badge> : null}
          {tool.trust === "untrusted" ? <Badge tone="warn">words of strangers</Badge> : null}
        </p>
        <pre className="prose">{tool.description}</pre>
      </section>
      {who === undefined ? null : (
        <Needs right="call" of={who}>
          {who.callers.length === 0 ? (
            <p className="quiet">
              You speak for no caller, so you cannot call tools. The policy names them: speaksFor.
            </p>
          ) : (
            <Playground key={tool.name} tool={tool} callers={who.callers} />
          )}
        </Needs>
      )}
      <section className="card">
        <h2>Its arguments, as JSON Schema</h2>
        <pre>{JSON.stringify(tool.inputSchema, undefined, 2)}</pre>
      </section>
    </>
  );
}

function Playground({ tool, callers }: { readonly tool: Tool; readonly callers: readonly string[] }) {
  const [text, setText] = useState(() => JSON.stringify(firstArguments(tool.inputSchema), undefined, 2));
  const [as, setAs] = useState(callers[0] ?? "");
  const [isAsking, setAsking] = useState(false);
  const { said, end, isRunning, call, stop } = useCall(tool.name, as);
  const args = objectIn(text);
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
      <label className="field">
        <span className="quiet">arguments, as JSON</span>
        <textarea spellCheck={false} value={text} onChange={({ target }) => setText(target.value)} />
      </label>
      {args === undefined ? (
        <p role="alert" className="is-bad">
          The arguments are no JSON object yet.
        </p>
      ) : null}
      <div className="row">
        <button
          type="button"
          className="first"
          disabled={args === undefined || isRunning}
          onClick={() => (tool.readOnly === true ? void call(args ?? {}) : setAsking(true))}
        >
          Call
        </button>
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

function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
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
