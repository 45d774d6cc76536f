import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { guides } from "../../api/queries.ts";
import { Badge } from "../../look/badge.tsx";
import { visible } from "../../look/visible.ts";

const Markdown = lazy(() => import("../../look/markdown.tsx"));

/** The documents that teach models a tool, each once somebody opens it. */
export function Guides({ tool }: { readonly tool: string }) {
  const { data, error } = useQuery(guides(tool));
  if (error !== null)
    return (
      <p role="alert" className="is-bad">
        {error.message}
      </p>
    );
  return data?.map(({ name, summary, document, trust }) => (
    <details key={name} className="card">
      <summary className="breaks">
        Guide “{name}”: {visible(summary)}{" "}
        {trust === "untrusted" ? <Badge tone="warn">words of strangers</Badge> : null}
      </summary>
      <Suspense fallback={<p className="quiet">Loading…</p>}>
        <Markdown text={document} />
      </Suspense>
    </details>
  ));
}
