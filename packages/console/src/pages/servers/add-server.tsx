import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { callTool } from "../../api/playground.ts";
import { tools } from "../../api/queries.ts";
import type { Me } from "../../api/types.ts";
import { Copy } from "../../look/copy.tsx";
import { Needs } from "../../look/needs.tsx";
import { visible } from "../../look/visible.ts";
import { ConfirmCall } from "../confirm-call.tsx";

const REGISTER = "mcp_register_server";

/** A form for one more MCP server: at an address, or a program. */
export function AddServer({ who }: { readonly who: Me }) {
  const [name, setName] = useState("");
  const [isProgram, setProgram] = useState(false);
  return (
    <section className="card" aria-label="add an MCP server">
      <h2>Add an MCP server</h2>
      <div className="row">
        <label className="field">
          <span className="quiet">name</span>
          <input value={name} placeholder="weather" onChange={({ target }) => setName(target.value)} />
        </label>
        <label className="field">
          <span className="quiet">it is</span>
          <select value={String(isProgram)} onChange={({ target }) => setProgram(target.value === "true")}>
            <option value="false">at an https address</option>
            <option value="true">a program of the bridge's machine</option>
          </select>
        </label>
      </div>
      {isProgram ? (
        <Program name={name} />
      ) : (
        <Needs right="call" of={who}>
          <Address name={name} callers={who.callers} />
        </Needs>
      )}
    </section>
  );
}

/** Asks for a server as one of the callers, by the tool that they have for it. */
function Address({ name, callers }: { readonly name: string; readonly callers: readonly string[] }) {
  const cache = useQueryClient();
  const { data: known } = useQuery(tools);
  const [url, setUrl] = useState("");
  const [as, setAs] = useState(callers[0] ?? "");
  const [isAsking, setAsking] = useState(false);
  const asked = useMutation({
    mutationFn: async () => {
      const call = { as, signal: AbortSignal.timeout(120_000), onProgress: () => {} };
      const end = await callTool(REGISTER, { server_name: name, url }, call);
      return end.kind === "error" ? end.message : (end.answer.content ?? "");
    },
    onSettled: () => cache.invalidateQueries({ queryKey: ["approvals"] }),
  });
  if (known?.every((tool) => tool.name !== REGISTER))
    return (
      <p className="quiet">
        Registration is off. Set REGISTRATION=on for mcp-bridge, and name {REGISTER} in full in the policy of a caller.
      </p>
    );
  if (callers.length === 0) return <p className="quiet">You speak for no caller. The policy names them: speaksFor.</p>;
  return (
    <>
      <div className="row">
        <label className="field">
          <span className="quiet">address</span>
          <input
            value={url}
            placeholder="https://mcp.example.com/mcp"
            onChange={({ target }) => setUrl(target.value)}
          />
        </label>
        <label className="field">
          <span className="quiet">for the caller</span>
          <select value={as} onChange={({ target }) => setAs(target.value)}>
            {callers.map((caller) => (
              <option key={caller}>{caller}</option>
            ))}
          </select>
        </label>
      </div>
      <p className="quiet">
        The server belongs to that caller. Unless its host is allowed, it waits for an approval: approve it above, and
        add it once more in the same words.
      </p>
      <button
        type="button"
        className="first"
        disabled={name === "" || url === "" || asked.isPending}
        onClick={() => setAsking(true)}
      >
        Add the server
      </button>
      <ConfirmCall tool={REGISTER} as={as} isOpen={isAsking} onOpenChange={setAsking} onYes={() => asked.mutate()} />
      <div aria-live="polite">
        {asked.error === null ? null : <p className="is-bad">{asked.error.message}</p>}
        {asked.data === undefined ? null : <pre>{visible(asked.data)}</pre>}
      </div>
    </>
  );
}

/** The text of a program for the file of servers: only an operator of the machine writes it there. */
function Program({ name }: { readonly name: string }) {
  const [command, setCommand] = useState("");
  const [args, setArgs] = useState("");
  const entry = { command, args: args.split("\n").filter((line) => line !== "") };
  const text = JSON.stringify({ mcpServers: { [name || "weather"]: entry } }, undefined, 2);
  return (
    <>
      <label className="field">
        <span className="quiet">program</span>
        <input value={command} placeholder="/usr/bin/weather-mcp" onChange={({ target }) => setCommand(target.value)} />
      </label>
      <label className="field">
        <span className="quiet">arguments, one in a line</span>
        <textarea className="short" value={args} onChange={({ target }) => setArgs(target.value)} />
      </label>
      <p className="quiet">
        The console starts no programs. Put this into the file of MCP_CONFIG, where the bridge takes it in by itself:
      </p>
      <pre>{text}</pre>
      <Copy text={text} name="Copy" />
    </>
  );
}
