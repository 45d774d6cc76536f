import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { overview } from "../api/queries.ts";
import type { Overview, ServiceState } from "../api/types.ts";
import { Badge, type Tone } from "../look/badge.tsx";
import { Chart } from "../look/chart.tsx";
import { Empty, Shown } from "../look/states.tsx";
import { duration, Moment } from "../look/time.tsx";

export function NowPage() {
  const asked = useQuery(overview);
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
            <LastHour minutes={now.minutes} />
            <Services services={now.services} />
          </>
        )}
      </Shown>
    </>
  );
}

function Problems({ problems }: Pick<Overview, "problems">) {
  if (problems.length === 0) return <p className="is-good">Nothing is wrong that this gateway can see.</p>;
  return (
    <ul className="problems" aria-label="What is wrong">
      {problems.map(({ level, what, next }) => (
        <li key={what} className={level === "error" ? "is-bad" : "is-warn"}>
          <p>
            <strong>{what}</strong>
          </p>
          <p>{next}</p>
        </li>
      ))}
    </ul>
  );
}

function Figures({ now: { minutes, codes, running } }: { readonly now: Overview }) {
  const ended = minutes.reduce((sum, minute) => sum + minute.ended, 0);
  const failed = minutes.reduce((sum, minute) => sum + minute.failed, 0);
  const last = minutes.findLast(({ p95 }) => p95 !== null);
  return (
    <section className="card" aria-label="Calls of the last hour">
      <div className="figures">
        <Figure name="running" value={String(running)} />
        <Figure name="ended in the last hour" value={String(ended)} />
        <Figure name="failed" value={String(failed)} />
        <Figure name="p50, last minute with calls" value={last?.p50 == null ? "none" : duration(last.p50)} />
        <Figure name="p95" value={last?.p95 == null ? "none" : duration(last.p95)} />
      </div>
      {Object.keys(codes).length === 0 ? null : (
        <p className="row">
          {Object.entries(codes)
            .sort(([, a], [, b]) => b - a)
            .map(([code, count]) => (
              <Link key={code} to="/calls" search={{ code }}>
                {code} {count}
              </Link>
            ))}
        </p>
      )}
    </section>
  );
}

const Figure = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <div className="figure">
    <strong>{value}</strong>
    <span className="quiet">{name}</span>
  </div>
);

function LastHour({ minutes }: Pick<Overview, "minutes">) {
  const at = useMemo(() => minutes.map((minute) => minute.at), [minutes]);
  const lines = useMemo(
    () => [
      { label: "calls a minute", colour: "--accent", values: minutes.map(({ ended }) => ended) },
      { label: "failed", colour: "--bad", values: minutes.map(({ failed }) => failed) },
    ],
    [minutes],
  );
  return (
    <section className="card">
      <h2>The last hour</h2>
      <Chart at={at} lines={lines} label="Calls and failures of each minute of the last hour" />
    </section>
  );
}

const TONES: Readonly<Record<ServiceState["state"], Tone>> = { ready: "good", gone: "bad", unusable: "warn" };

function Services({ services }: Pick<Overview, "services">) {
  if (services.length === 0) return <Empty>No service has been heard of yet.</Empty>;
  return (
    <section className="card flush">
      <table>
        <thead>
          <tr>
            <th>service</th>
            <th>state</th>
            <th className="number">instances</th>
            <th className="number">tools</th>
          </tr>
        </thead>
        <tbody>
          {services.map(({ name, state, instances, tools, reason }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>
                <Badge tone={TONES[state]}>{state}</Badge> {reason}
              </td>
              <td className="number">{instances}</td>
              <td className="number">{tools}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
