import type { AskedServer, Decision, HeldTool } from "../../api/approvals.ts";
import { Badge } from "../../look/badge.tsx";
import { visible } from "../../look/visible.ts";
import { DefinitionView } from "./definition.tsx";

type OnWanted = (decision: Decision) => void;

/** Definitions and servers, each as it would be decided about. */
export function Held({
  tools,
  servers = [],
  onWanted,
}: {
  readonly tools: readonly HeldTool[];
  readonly servers?: readonly AskedServer[];
  readonly onWanted: OnWanted;
}) {
  return (
    <>
      {servers.map((server) => (
        <section className="card" key={`${server.agent} ${server.digest}`}>
          <h3 className="breaks">
            {server.agent} asks for the server {server.server}
          </h3>
          <RejectedBy by={server.rejectedBy} />
          <pre>{server.lines.map(visible).join("\n")}</pre>
          <Buttons
            what={`the server ${server.server} of ${server.agent}`}
            tools={[]}
            servers={[server]}
            onWanted={onWanted}
          />
        </section>
      ))}
      {[...Map.groupBy(tools, ({ server }) => server)].map(([server, its]) => (
        <section className="card" key={server} aria-label={`tools of ${server}`}>
          <div className="head">
            <h3 className="breaks">{server}</h3>
            {its.length > 1 ? (
              <Buttons what={`all ${its.length} tools of ${server}`} all tools={its} servers={[]} onWanted={onWanted} />
            ) : null}
          </div>
          {its.map((tool) => (
            <HeldView key={`${tool.tool} ${tool.hash}`} tool={tool} onWanted={onWanted} />
          ))}
        </section>
      ))}
    </>
  );
}

function HeldView({ tool, onWanted }: { readonly tool: HeldTool; readonly onWanted: OnWanted }) {
  const name = visible(tool.tool);
  return (
    <article>
      <h4 className="breaks">
        {name} <Badge tone="warn">{tool.reason.replace("_", " ")}</Badge>
        {tool.renamedFrom === undefined ? null : <span className="quiet"> it was {visible(tool.renamedFrom)}</span>}
      </h4>
      <RejectedBy by={tool.rejectedBy} note={tool.note} />
      {tool.suspicions.map((words) => (
        <p key={words} className="is-bad breaks">
          It {visible(words)}
        </p>
      ))}
      <DefinitionView tool={tool} />
      <Buttons what={`${name} of ${tool.server}`} tools={[tool]} servers={[]} onWanted={onWanted} />
    </article>
  );
}

function RejectedBy({ by, note }: { readonly by: string | undefined; readonly note?: string | undefined }) {
  if (by === undefined) return null;
  return (
    <p className="quiet breaks">
      {by} has rejected it{note === undefined ? "." : `: ${note}`}
    </p>
  );
}

/** What may be done: what was rejected, or is offered, is not rejected (again). */
function Buttons({
  what,
  tools,
  servers,
  all = false,
  onWanted,
}: Pick<Decision, "what" | "tools" | "servers"> & { readonly all?: boolean; readonly onWanted: OnWanted }) {
  const canReject = [...tools, ...servers].every(
    (one) => one.rejectedBy === undefined && !("reason" in one && one.reason === "first_sight"),
  );
  const want = (action: Decision["action"]) => onWanted({ action, what, tools, servers });
  return (
    <div className="row">
      <button type="button" className="first" aria-label={`Approve ${what}`} onClick={() => want("approve")}>
        {all ? "Approve all" : "Approve"}
      </button>
      {canReject ? (
        <button type="button" className="bad" aria-label={`Reject ${what}`} onClick={() => want("reject")}>
          {all ? "Reject all" : "Reject"}
        </button>
      ) : null}
    </div>
  );
}
