import { cpus } from "node:os";
import type { Curve } from "./curves.ts";
import type { Size } from "./growth.ts";
import { busiestOf, type GrowthRow, type Series } from "./measure-growth.ts";

const mib = (bytes: number, digits = 0): string => (bytes / 2 ** 20).toFixed(digits);
const kib = (bytes: number): string => (bytes / 2 ** 10).toFixed(0);
const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
const totalOf = (cores: GrowthRow["idleCores"]): number => Object.values(cores).reduce((sum, one) => sum + one, 0);

/** The tables of the page. */
export function growthSection(
  series: readonly Series[],
  { idleMs, loopMs }: { idleMs: number; loopMs: number },
): string {
  const lines = new Set(series.flatMap(({ rows }) => rows.map(lineOf))); // series share a size
  const limits = series.map(
    ({ grows, limit, rows }) =>
      `- **More ${grows}**: ${limit === undefined ? `no limit up to ${rows.at(-1)?.[grows].toLocaleString("en-US")}` : `the first limit is at ${limit[grows].toLocaleString("en-US")}, where ${limit.why}`}.`,
  );
  return `Each row is a system of its own on this machine, with one RabbitMQ and no Redis. The tools are read-only and do nothing. Each has a description of 850 characters. A process has up to 25 services or 250 callers, each with a connection of its own.
Ready: from the start of the processes until a caller knows each tool, and then until each caller does. A minute without calls is taken from ${idleMs / 1_000} s of them. Then each caller has one call out, for ${loopMs / 1_000} s.
Memory per caller: what its process and the broker have more. The row names the part that takes most of the processor while nobody calls, and while all call.

| services | tools | callers | services ready s | callers ready s | calls/s | p99 ms | KiB per caller: process | broker | MiB of services | KiB until found | KiB per caller in a minute | cores without calls | cores with calls |
|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
${[...lines].join("\n")}

${limits.join("\n")}

A size is a limit if it fails, or has less than half of the calls/s of a smaller one. So is one that keeps more than half of the ${cpus().length} cores busy while nobody calls.`;
}

function lineOf(row: GrowthRow): string {
  const { services, tools, callers, servicesReadyMs, callersReadyMs, callsPerSecond, p99Ms } = row;
  const cores = (of: GrowthRow["idleCores"]): string => `${totalOf(of).toFixed(2)} ${busiestOf(of)}`;
  const figures = [
    seconds(servicesReadyMs),
    seconds(callersReadyMs),
    callsPerSecond.toFixed(0),
    p99Ms.toFixed(0),
    kib(row.callerBytes),
    kib(row.brokerBytesPerCaller),
    mib(row.servicesBytes),
    kib(row.foundBytes),
    kib(row.discoveryBytesPerMinute),
    cores(row.idleCores),
    cores(row.busyCores),
  ];
  return `| ${[services, tools, callers, ...figures].join(" | ")} |`;
}

/** What the picture shows: one curve for each thing that grows with each size. */
export function growthCurves(series: readonly Series[]): readonly Curve[] {
  const curve = (grows: keyof Size, yName: string, of: (row: GrowthRow) => number): Curve => ({
    title: `More ${grows}`,
    xName: grows,
    yName,
    points: (series.find((one) => one.grows === grows)?.rows ?? []).map((row) => [row[grows], of(row)] as const),
  });
  return [
    curve("callers", "calls/s", ({ callsPerSecond }) => callsPerSecond),
    curve(
      "callers",
      "KiB of process and broker for each",
      (row) => (row.callerBytes + row.brokerBytesPerCaller) / 1_024,
    ),
    curve("callers", "seconds until all are ready", ({ callersReadyMs }) => callersReadyMs / 1_000),
    curve("callers", "cores without calls", ({ idleCores }) => totalOf(idleCores)),
    curve("services", "KiB of discovery per caller in a minute", (row) => row.discoveryBytesPerMinute / 1_024),
    curve("services", "seconds until services are ready", ({ servicesReadyMs }) => servicesReadyMs / 1_000),
    curve("tools", "seconds until services are ready", ({ servicesReadyMs }) => servicesReadyMs / 1_000),
  ].filter(({ points }) => points.length > 0);
}
