import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { me, tools } from "../api/queries.ts";
import type { Me, Tool } from "../api/types.ts";
import { Needs } from "../look/needs.tsx";
import { Empty, Shown } from "../look/states.tsx";
import { ASK_TOOL, Chat } from "./agents/chat.tsx";
import { Kept } from "./agents/kept.tsx";

export function AgentsPage() {
  const who = useQuery(me);
  const known = useQuery(tools);
  return (
    <>
      <h1>Agents</h1>
      <Shown of={who}>
        {(operator) => (
          <Needs right="call" of={operator}>
            <Shown of={known}>{(all) => <AsCaller who={operator} tools={all} />}</Shown>
          </Needs>
        )}
      </Shown>
    </>
  );
}

function AsCaller({ who, tools: all }: { readonly who: Me; readonly tools: readonly Tool[] }) {
  const [as, setAs] = useState(who.callers[0] ?? "");
  const hasAgent = all.some(({ name }) => name === ASK_TOOL);
  if (who.callers.length === 0)
    return <Empty>You speak for no caller, so you cannot ask the agent. The policy names them: speaksFor.</Empty>;
  return (
    <>
      <label className="row">
        <span className="quiet">as the caller</span>
        <select value={as} onChange={({ target }) => setAs(target.value)}>
          {who.callers.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      {hasAgent ? (
        <Chat key={as} operator={who.operator.name} as={as} />
      ) : (
        <Empty>
          No agent runs. Set MODEL and MODEL_URL, and MODEL_API_KEY where the model needs one, then start it again;
          “rockbot doctor” says what is missing.
        </Empty>
      )}
      <Kept as={as} tools={all} />
    </>
  );
}
