import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { history } from "../../api/queries.ts";
import type { CallsOfDay, Overview } from "../../api/types.ts";
import { Chart } from "../../look/chart.tsx";
import { Shown } from "../../look/states.tsx";

const MINUTE_MS = 60_000;
const HOUR = 60;

/** The calls of the last hour or day, of all services or of one. */
export function History({
  minutes,
  services,
  service,
  onService,
}: Pick<Overview, "minutes" | "services"> & {
  /** Empty for all. */
  readonly service: string;
  readonly onService: (service: string) => void;
}) {
  const [isDay, setDay] = useState(false);
  const isAsked = isDay || service !== "";
  const asked = useQuery({ ...history(service), enabled: isAsked });
  return (
    <section className="card">
      <div className="head">
        <h2>{isDay ? "The last day" : "The last hour"}</h2>
        <span className="row">
          <select aria-label="service" value={service} onChange={({ target }) => onService(target.value)}>
            <option value="">all services</option>
            {services.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <button type="button" aria-pressed={isDay} onClick={() => setDay(!isDay)}>
            {isDay ? "Show the hour" : "Show the day"}
          </button>
        </span>
      </div>
      {isAsked ? (
        <Shown of={asked}>{(day) => <Charts calls={isDay ? day : lastHourOf(day)} />}</Shown>
      ) : (
        <Charts calls={columnsOf(minutes)} />
      )}
    </section>
  );
}

function Charts({ calls }: { readonly calls: CallsOfDay }) {
  const known = knownOf(calls);
  const { from, ended, failed, p50, p95 } = wholeMinutes(known);
  const at = useMemo(() => ended.map((_, index) => from + index * MINUTE_MS), [from, ended]);
  const counts = useMemo(
    () => [
      { label: "calls a minute", colour: "--accent", values: ended },
      { label: "failed", colour: "--bad", values: failed },
    ],
    [ended, failed],
  );
  const times = useMemo(
    () => [
      { label: "p50, ms", colour: "--accent", values: p50.map(rounded) },
      { label: "p95, ms", colour: "--warn", values: p95.map(rounded) },
    ],
    [p50, p95],
  );
  if (ended.every((count) => count === null))
    return <p className="quiet">Nothing is known of this time: no service said what it did.</p>;
  return (
    <div className="charts">
      <Chart
        at={at}
        lines={counts}
        label={`${sum(known.ended)} calls, of which ${sum(known.failed)} failed, by the minute`}
      />
      <Chart at={at} lines={times} label="How long calls took, by the minute: half of them, and 95 of 100" />
    </div>
  );
}

const columnsOf = (minutes: Overview["minutes"]): CallsOfDay => ({
  from: minutes[0]?.at ?? 0,
  ended: minutes.map(({ ended }) => ended),
  failed: minutes.map(({ failed }) => failed),
  p50: minutes.map(({ p50 }) => p50),
  p95: minutes.map(({ p95 }) => p95),
});

const lastHourOf = (calls: CallsOfDay): CallsOfDay => fromMinute(calls, Math.max(0, calls.ended.length - HOUR));

/** Minutes that are drawn at least. */
const MIN_SHOWN = 5;

/** Without the minutes before the first of which anything is known. */
function knownOf(calls: CallsOfDay): CallsOfDay {
  const first = calls.ended.findIndex((count) => count !== null);
  return fromMinute(calls, Math.max(0, Math.min(first, calls.ended.length - MIN_SHOWN)));
}

/** Without the minute that still runs, whose counts look like a fall, unless nothing else is known. */
function wholeMinutes(calls: CallsOfDay): CallsOfDay {
  const isFirst = calls.ended.filter((count) => count !== null).length < 2;
  return isFirst ? calls : fromMinute(calls, 0, -1);
}

const fromMinute = ({ from, ended, failed, p50, p95 }: CallsOfDay, first: number, end?: number): CallsOfDay => ({
  from: from + first * MINUTE_MS,
  ended: ended.slice(first, end),
  failed: failed.slice(first, end),
  p50: p50.slice(first, end),
  p95: p95.slice(first, end),
});

const rounded = (ms: number | null): number | null => (ms === null ? null : Math.round(ms * 10) / 10);
const sum = (counts: readonly (number | null)[]): number =>
  counts.reduce<number>((total, count) => total + (count ?? 0), 0);
