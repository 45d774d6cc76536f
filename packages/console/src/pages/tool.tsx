import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { me, tools } from "../api/queries.ts";
import type { Tool } from "../api/types.ts";
import { Badge } from "../look/badge.tsx";
import { Needs } from "../look/needs.tsx";
import { Pre } from "../look/pre.tsx";
import { Shown } from "../look/states.tsx";
import { Guides } from "./tool/guides.tsx";
import { Playground } from "./tool/playground.tsx";

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
        <Link to="/policy" search={{ tool: name }}>
          who may use it
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
      <Guides tool={tool.name} />
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
        <Pre>{JSON.stringify(tool.inputSchema, undefined, 2)}</Pre>
      </section>
    </>
  );
}
