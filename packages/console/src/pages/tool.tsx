import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { callTool, type End } from "../api/playground.ts";
import { me, tools } from "../api/queries.ts";
import type { Tool } from "../api/types.ts";
import { AnswerView } from "../look/answer.tsx";
import { Badge } from "../look/badge.tsx";
import { Shown } from "../look/states.tsx";
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
        <pre>{tool.description}</pre>
      </section>
      {who?.operator.may.includes("call") === true ? <Playground key={tool.name} tool={tool} /> : null}
      <section className="card">
        <h2>Its arguments, as JSON Schema</h2>
        <pre>{JSON.stringify(tool.inputSchema, undefined, 2)}</pre>
      </section>
    </>
  );
}

function Playground({ tool }: { readonly tool: Tool }) {
  const [text, setText] = useState(() => JSON.stringify(firstArguments(tool.inputSchema), undefined, 2));
  const [said, setSaid] = useState<readonly string[]>([]);
  const [end, setEnd] = useState<End>();
  const [isAsked, setAsked] = useState(false);
  const running = useRef<AbortController>(undefined);
  const [isRunning, setRunning] = useState(false);
  let args: unknown;
  try {
    args = JSON.parse(text);
  } catch {
    args = undefined;
  }
  const isObject = typeof args === "object" && args !== null && !Array.isArray(args);

  const call = async () => {
    if (tool.readOnly !== true && !isAsked) return setAsked(true);
    setAsked(false);
    setSaid([]);
    setEnd(undefined);
    setRunning(true);
    const stop = new AbortController();
    running.current = stop;
    const onProgress = (message: string) => setSaid((before) => [...before, message].slice(-100));
    try {
      setEnd(await callTool(tool.name, args as object, { signal: stop.signal, onProgress }));
    } catch (error) {
      const message = stop.signal.aborted ? "Stopped: the call was cancelled." : (error as Error).message;
      setEnd({ kind: "error", code: stop.signal.aborted ? "cancelled" : "refused", message });
    } finally {
      setRunning(false);
    }
  };
  return (
    <section className="card">
      <h2>Try it</h2>
      <label className="field">
        <span className="quiet">arguments, as JSON</span>
        <textarea spellCheck={false} value={text} onChange={({ target }) => setText(target.value)} />
      </label>
      {isObject ? null : (
        <p role="alert" className="is-bad">
          The arguments are no JSON object yet.
        </p>
      )}
      <div className="row">
        <button type="button" className="first" disabled={!isObject || isRunning} onClick={() => void call()}>
          {isAsked ? `Yes, call ${tool.name} as the gateway's own agent` : "Call"}
        </button>
        {isAsked ? (
          <button type="button" onClick={() => setAsked(false)}>
            No
          </button>
        ) : null}
        {isRunning ? (
          <button type="button" className="bad" onClick={() => running.current?.abort()}>
            Stop
          </button>
        ) : null}
      </div>
      {isAsked ? <p className="is-warn">This tool may change something outside.</p> : null}
      <div aria-live="polite">
        {said.length === 0 ? null : <pre>{said.join("\n")}</pre>}
        {end === undefined ? null : <EndView end={end} />}
      </div>
    </section>
  );
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
