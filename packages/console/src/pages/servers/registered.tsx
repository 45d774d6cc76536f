import { useQuery } from "@tanstack/react-query";
import { type Decision, registrations } from "../../api/approvals.ts";
import { Empty, Shown } from "../../look/states.tsx";
import { Moment } from "../../look/time.tsx";
import { visible } from "../../look/visible.ts";

/** The servers that agents have, each with a way to take it from its agent. */
export function Registered({ onWanted }: { readonly onWanted: (decision: Decision) => void }) {
  const asked = useQuery(registrations);
  return (
    <>
      <h2>Servers that agents have registered</h2>
      <Shown of={asked}>
        {({ servers }) => {
          if (servers.length === 0) return <Empty>There are none.</Empty>;
          return servers.map((server) => {
            const what = `the server ${server.server} of ${server.agent}`;
            return (
              <section className="card" key={server.digest} aria-label={what}>
                <h3 className="breaks">
                  {server.server} <span className="quiet">of {server.agent}</span>
                </h3>
                <pre>{server.lines.map(visible).join("\n")}</pre>
                <p className="quiet breaks">
                  Let in by {server.by}, <Moment at={Date.parse(server.at)} />
                </p>
                <button
                  type="button"
                  className="bad"
                  aria-label={`Remove ${what}`}
                  onClick={() => onWanted({ action: "remove", what, tools: [], servers: [server] })}
                >
                  Remove
                </button>
              </section>
            );
          });
        }}
      </Shown>
    </>
  );
}
