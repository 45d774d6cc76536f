import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { me, tools } from "../api/queries.ts";
import type { Me } from "../api/types.ts";
import { Needs } from "../look/needs.tsx";
import { Empty, Shown } from "../look/states.tsx";
import { ASK_TOOL, Chat } from "./agents/chat.tsx";
import { Kept } from "./agents/kept.tsx";
import { Memory } from "./agents/memory.tsx";
import { Reading } from "./agents/reading.tsx";
import { Sessions } from "./agents/sessions.tsx";
import { Wisps } from "./agents/wisps.tsx";

export function AgentsPage() {
  const who = useQuery(me);
  return (
    <>
      <h1>Agents</h1>
      <Shown of={who}>{(operator) => <AsCaller who={operator} />}</Shown>
    </>
  );
}

function AsCaller({ who }: { readonly who: Me }) {
  const [as, setAs] = useState(who.callers[0] ?? "");
  if (who.callers.length === 0)
    return <Empty>You speak for no caller, so you reach none of its sessions. The policy names them: speaksFor.</Empty>;
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
      <Needs right="call" of={who}>
        <Asking operator={who.operator.name} as={as} />
      </Needs>
      <Needs right="read" of={who}>
        <Reading key={`sessions ${as}`} name="Sessions" sight="transcripts" of={who}>
          <Sessions as={as} />
        </Reading>
        <Reading key={`memory ${as}`} name="Working memory" sight="memory" of={who}>
          <Memory as={as} />
        </Reading>
        <Reading key={`wisps ${as}`} name="Wisps" sight="memory" of={who}>
          <Wisps as={as} />
        </Reading>
      </Needs>
    </>
  );
}

/** What needs calls as the caller: the chat, and what tools list. */
function Asking({ operator, as }: { readonly operator: string; readonly as: string }) {
  const known = useQuery(tools);
  return (
    <Shown of={known}>
      {(all) => (
        <>
          {all.some(({ name }) => name === ASK_TOOL) ? (
            <Chat key={as} operator={operator} as={as} />
          ) : (
            <Empty>
              No agent runs. Set MODEL and MODEL_URL, and MODEL_API_KEY where the model needs one, then start it again;
              “rockbot doctor” says what is missing.
            </Empty>
          )}
          <Kept as={as} tools={all} />
        </>
      )}
    </Shown>
  );
}
