import { useQuery } from "@tanstack/react-query";
import { wispsOf } from "../../api/kept-by-agent.ts";
import { Badge } from "../../look/badge.tsx";
import { Empty, Shown } from "../../look/states.tsx";
import { visible } from "../../look/visible.ts";

/** The saved pipelines that a caller may use. */
export function Wisps({ as }: { readonly as: string }) {
  return (
    <Shown of={useQuery(wispsOf(as))}>
      {({ wisps, more, isPartial }) => (
        <>
          {isPartial ? <p className="is-warn">Not all instances of the agent answered.</p> : null}
          {wisps.length === 0 ? <Empty>There are no saved wisps.</Empty> : null}
          <ul className="tree">
            {wisps.map(({ name, version, description, isOwn, isUntrusted }) => (
              <li key={name} className="row">
                <span className="breaks">
                  {visible(name)}, version {version}
                </span>
                <Badge tone="quiet">{isOwn ? "its own" : "shared"}</Badge>
                {isUntrusted ? <Badge tone="warn">words of strangers</Badge> : null}
                <span className="quiet breaks">{visible(description)}</span>
              </li>
            ))}
          </ul>
          {more === 0 ? null : <p className="quiet">{more} more are left out.</p>}
        </>
      )}
    </Shown>
  );
}
