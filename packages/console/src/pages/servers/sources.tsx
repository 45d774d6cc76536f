import type { Source } from "../../api/approvals.ts";
import { Badge } from "../../look/badge.tsx";
import { Empty } from "../../look/states.tsx";
import { visible } from "../../look/visible.ts";

const kinds = { mcp: "MCP server", openapi: "OpenAPI document", a2a: "A2A agent" };
const isFine = (state: string): boolean => state === "ready" || state === "busy";

/** Where tools of strangers come from, and how it stands. */
export function Sources({ sources }: { readonly sources: readonly Source[] }) {
  if (sources.length === 0)
    return (
      <Empty>
        No MCP server, OpenAPI document or agent of others is known. Their files name them, or a form below.
      </Empty>
    );
  return (
    <div className="card flush">
      <table>
        <thead>
          <tr>
            <th>name</th>
            <th>what it is</th>
            <th>state</th>
            <th className="number">tools</th>
            <th className="number">held</th>
          </tr>
        </thead>
        <tbody>
          {sources.map(({ kind, server, state, reason, tools, held }) => (
            <tr key={`${kind} ${server}`}>
              <td className="breaks">{visible(server.replace(/^(rest|a2a):/, ""))}</td>
              <td>{kinds[kind]}</td>
              <td className="breaks">
                <Badge tone={isFine(state) ? "good" : "bad"}>{state}</Badge>
                {reason === undefined ? null : <div className="quiet">{visible(reason)}</div>}
              </td>
              <td className="number">{tools}</td>
              <td className="number">{held}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
