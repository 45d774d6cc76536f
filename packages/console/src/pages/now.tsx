import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { overview } from "../api/queries.ts";
import type { Overview, ServiceCalls } from "../api/types.ts";
import { Shown } from "../look/states.tsx";
import { duration, Moment } from "../look/time.tsx";
import { History } from "./now/history.tsx";
import { Services } from "./now/services.tsx";

export function NowPage() {
  const asked = useQuery(overview);
  const [service, setService] = useState("");
  return (
    <>
      <div className="head">
        <h1>Now</h1>
        {asked.data === undefined ? null : (
          <span className="quiet">
            as of <Moment at={asked.data.at} />
          </span>
        )}
      </div>
      <Shown of={asked}>
        {(now) => (
          <>
            <Problems problems={now.problems} />
            <Figures now={now} />
            <History minutes={now.minutes} services={now.services} service={service} onService={setService} />
            <Services services={now.services} onChosen={setService} />
          </>
        )}
      </Shown>
    </>
  );
}

const PAGES = { letters: "Dead letters", servers: "Servers", waiting: "Waiting" } as const;

function Problems({ problems }: Pick<Overview, "problems">) {
  if (problems.length === 0) return <p className="is-good">Nothing is wrong that this gateway can see.</p>;
  return (
    <ul className="problems" aria-label="What is wrong">
      {problems.map(({ level, what, next, page }) => (
        <li key={what} className={level === "error" ? "is-bad" : "is-warn"}>
          <p>
            <strong>{what}</strong>
          </p>
          <p>
            {next} {page === undefined ? null : <Link to={`/${page}`}>Open {PAGES[page]}</Link>}
          </p>
        </li>
      ))}
    </ul>
  );
}

function Figures({ now: { calls, services } }: { readonly now: Overview }) {
  if (calls === null)
    return <p className="quiet">How many calls there are is unknown: no service here says what it does.</p>;
  const waiting = services.reduce((sum, { backlog }) => sum + (backlog ?? 0), 0);
  return (
    <section className="card" aria-label="Calls of the last hour">
      <div className="figures">
        <Figure name="calls a second" value={calls.perSecond.toFixed(1)} />
        <Figure
          name="running"
          value={
            calls.inFlight === 0 ? (
              "0"
            ) : (
              <Link to="/calls" search={{ state: "open" }}>
                {calls.inFlight}
              </Link>
            )
          }
        />
        <Figure name="p50, last minute" value={calls.p50 === null ? "no calls" : duration(calls.p50)} />
        <Figure name="p95, last minute" value={calls.p95 === null ? "no calls" : duration(calls.p95)} />
        <Figure name="ended in the last hour" value={String(calls.ended)} />
        <Figure name="failed of these" value={String(calls.failed)} />
        <Figure name="waiting at the broker" value={String(waiting)} />
      </div>
      <Codes codes={calls.codes} />
    </section>
  );
}

function Codes({ codes }: Pick<ServiceCalls, "codes">) {
  const rows = Object.entries(codes);
  if (rows.length === 0) return null;
  return (
    <p className="row codes">
      {rows.map(([code, count]) =>
        code === "tool_error" ? ( // the caller got it as an answer
          <span key={code}>
            {code} {count}
          </span>
        ) : (
          <Link key={code} to="/calls" search={{ code }}>
            {code} {count}
          </Link>
        ),
      )}
    </p>
  );
}

const Figure = ({ name, value }: { readonly name: string; readonly value: ReactNode }) => (
  <div className="figure">
    <strong>{value}</strong>
    <span className="quiet">{name}</span>
  </div>
);
