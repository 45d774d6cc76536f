import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { approvals, type Decision, decide, rejections, type Waiting } from "../api/approvals.ts";
import { me } from "../api/queries.ts";
import type { Me } from "../api/types.ts";
import { Confirm } from "../look/confirm.tsx";
import { Needs } from "../look/needs.tsx";
import { Empty, Shown } from "../look/states.tsx";
import { AddServer } from "./servers/add-server.tsx";
import { Held } from "./servers/held.tsx";
import { Registered } from "./servers/registered.tsx";
import { Sources } from "./servers/sources.tsx";

export function ServersPage() {
  const { data: who } = useQuery(me);
  return (
    <>
      <h1>Servers</h1>
      <p className="quiet">
        What MCP servers, OpenAPI documents and agents of others offer is held until an operator approves it.
      </p>
      {who === undefined ? null : (
        <Needs right="servers" of={who}>
          <Decisions who={who} />
        </Needs>
      )}
    </>
  );
}

const WORDS = { approve: "Approve", reject: "Reject", remove: "Remove" };

/** What waits, what was rejected and how all stand, with the question before each decision. */
function Decisions({ who }: { readonly who: Me }) {
  const cache = useQueryClient();
  const asked = useQuery(approvals);
  const [wanted, setWanted] = useState<Decision>();
  const [note, setNote] = useState("");
  const decided = useMutation({
    mutationFn: (decision: Decision) => decide(decision, note),
    onSettled: async () => {
      setNote("");
      await cache.invalidateQueries({ queryKey: ["approvals"] });
    },
  });
  return (
    <>
      <Outcome of={decided} />
      <Shown of={asked}>{(waiting) => <Lists waiting={waiting} onWanted={setWanted} />}</Shown>
      <Registered onWanted={setWanted} />
      <Rejected onWanted={setWanted} />
      <AddServer who={who} />
      <Confirm
        isOpen={wanted !== undefined}
        onOpenChange={(isOpen) => isOpen || setWanted(undefined)}
        title={`${wanted === undefined ? "" : WORDS[wanted.action]} ${wanted?.what ?? ""}?`}
        yes={`Yes, ${wanted?.action ?? ""}`}
        onYes={() => wanted !== undefined && decided.mutate(wanted)}
      >
        {wanted?.action === "remove" ? (
          "Its tools are gone at once, and the agent may not have the same server again for a day."
        ) : (
          <>
            The decision is for exactly what is shown.
            <label className="field">
              <span className="quiet">note, for the audit log</span>
              <input value={note} maxLength={500} onChange={({ target }) => setNote(target.value)} />
            </label>
          </>
        )}
      </Confirm>
    </>
  );
}

function Lists({
  waiting: { tools, servers, firstSeen = [], sources = [], more = 0, problems = [] },
  onWanted,
}: {
  readonly waiting: Waiting;
  readonly onWanted: (decision: Decision) => void;
}) {
  return (
    <>
      {problems.map((words) => (
        <p key={words} role="alert" className="is-warn">
          {words}
        </p>
      ))}
      <h2>Waits for you</h2>
      {tools.length + servers.length === 0 ? <Empty>Nothing waits.</Empty> : null}
      <Held tools={tools} servers={servers} onWanted={onWanted} />
      {more > 0 ? <p className="quiet">{more} more are left out here. Decide about these first.</p> : null}
      <h2>Where tools of others come from</h2>
      <Sources sources={sources} />
      {firstSeen.length === 0 ? null : (
        <details>
          <summary>{firstSeen.length} tools are offered as they were first seen, and nobody has approved them</summary>
          <Held tools={firstSeen} onWanted={onWanted} />
        </details>
      )}
    </>
  );
}

/** What was rejected, once somebody wants to see it. */
function Rejected({ onWanted }: { readonly onWanted: (decision: Decision) => void }) {
  const [isOpen, setOpen] = useState(false);
  const asked = useQuery({ ...rejections, enabled: isOpen });
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>What was rejected</summary>
      {isOpen ? (
        <Shown of={asked}>
          {({ tools, servers }) =>
            tools.length + servers.length === 0 ? (
              <Empty>Nothing was.</Empty>
            ) : (
              <Held tools={tools} servers={servers} onWanted={onWanted} />
            )
          }
        </Shown>
      ) : null}
    </details>
  );
}

function Outcome({
  of: { data, error },
}: {
  readonly of: {
    readonly data: Awaited<ReturnType<typeof decide>> | undefined;
    readonly error: Error | null;
  };
}) {
  if (error !== null)
    return (
      <p role="alert" className="is-bad">
        {error.message}
      </p>
    );
  if (data === undefined) return null;
  const troubles = [
    ...(data.stale.length === 0
      ? []
      : [`Not decided, as it has changed since it was shown: ${data.stale.join(", ")}. Look again.`]),
    ...(data.problems ?? []),
  ];
  return (
    <p role="status" className={troubles.length === 0 ? "is-good" : "is-warn"}>
      {troubles.length === 0 ? "Decided." : troubles.join(" ")}
    </p>
  );
}
