import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { approvals, type Waiting } from "../api/approvals.ts";
import { askJson, RefusedError } from "../api/session.ts";
import { Badge } from "../look/badge.tsx";
import { Confirm } from "../look/confirm.tsx";
import { Empty, Shown } from "../look/states.tsx";

/** One decision that the operator is asked about before it is sent. */
interface Decision {
  readonly title: string;
  readonly path: string;
  readonly body: object;
}

export function ServersPage() {
  const cache = useQueryClient();
  const asked = useQuery(approvals);
  const [wanted, setWanted] = useState<Decision>();
  const decided = useMutation({
    mutationFn: ({ path, body }: Decision) =>
      askJson<{ readonly stale: readonly string[] }>(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    onSettled: () => cache.invalidateQueries({ queryKey: ["approvals"] }),
  });
  if (asked.error instanceof RefusedError && asked.error.status === 404)
    return (
      <>
        <h1>Servers</h1>
        <Empty>
          The MCP bridge runs in another process than this gateway. There, <code>rockbot mcp approve</code> decides.
        </Empty>
      </>
    );
  return (
    <>
      <h1>Servers</h1>
      <p className="quiet">
        What MCP servers, OpenAPI documents and agents offer is held until an operator approves it.
      </p>
      <Shown of={asked}>{(waiting) => <Waiters waiting={waiting} onWanted={setWanted} />}</Shown>
      {decided.data !== undefined && decided.data.stale.length > 0 ? (
        <p role="alert" className="is-warn">
          It has changed since it was shown, so nothing was decided. Look again.
        </p>
      ) : null}
      {decided.error === null ? null : (
        <p role="alert" className="is-bad">
          {decided.error.message}
        </p>
      )}
      <Confirm
        isOpen={wanted !== undefined}
        onOpenChange={(isOpen) => isOpen || setWanted(undefined)}
        title={`${wanted?.title ?? ""}?`}
        yes="Yes"
        onYes={() => wanted !== undefined && decided.mutate(wanted)}
      >
        The decision is for exactly what is shown.
      </Confirm>
    </>
  );
}

/** Each thing that waits, as it would be approved. */
function Waiters({
  waiting: { tools, servers },
  onWanted,
}: {
  readonly waiting: Waiting;
  readonly onWanted: (decision: Decision) => void;
}) {
  return (
    <>
      {tools.length + servers.length === 0 ? <Empty>Nothing waits.</Empty> : null}
      {servers.map((server) => (
        <section className="card" key={server.digest}>
          <h2>
            {server.agent} asks for the server {server.server}
          </h2>
          <pre>{server.lines.join("\n")}</pre>
          <Buttons
            name={`the server ${server.server} of ${server.agent}`}
            body={{ tools: [], servers: [{ server: server.server, digest: server.digest }] }}
            onWanted={onWanted}
          />
        </section>
      ))}
      {tools.map((tool) => (
        <section className="card" key={`${tool.server} ${tool.tool} ${tool.hash}`}>
          <h2>
            {tool.server}: {tool.tool} <Badge tone="warn">{tool.reason.replace("_", " ")}</Badge>
          </h2>
          {tool.suspicions.map((words) => (
            <p key={words} className="is-bad">
              {words}
            </p>
          ))}
          <Changes lines={tool.changes} />
          <Buttons
            name={`${tool.tool} of ${tool.server}`}
            body={{ tools: [{ server: tool.server, tool: tool.tool, hash: tool.hash }], servers: [] }}
            onWanted={onWanted}
          />
        </section>
      ))}
    </>
  );
}

function Buttons({
  name,
  body,
  onWanted,
}: {
  readonly name: string;
  readonly body: object;
  readonly onWanted: (decision: Decision) => void;
}) {
  return (
    <div className="row">
      <button
        type="button"
        className="first"
        onClick={() => onWanted({ title: `Approve ${name}`, path: "/operator/mcp/approvals", body })}
      >
        Approve
      </button>
      <button
        type="button"
        className="bad"
        onClick={() => onWanted({ title: `Reject ${name}`, path: "/operator/mcp/rejections", body })}
      >
        Reject
      </button>
    </div>
  );
}

/** Lines of a diff: what was taken away, and what came. */
function Changes({ lines }: { readonly lines: readonly string[] }) {
  return (
    <pre>
      {lines.map((line, index) => (
        <span key={index} className={line.startsWith("+") ? "is-good" : line.startsWith("-") ? "is-bad" : ""}>
          {line}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
