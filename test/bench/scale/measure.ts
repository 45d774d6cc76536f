/**
 * Measures what to raise first, one thing at a time, what each part takes at fixed rates of calls, and how far a system
 * grows: writes docs/measured/scale.md and its picture. `--quick` for a look at small sizes; `--only raise`, `rates` or
 * `growth` for one part: both write nothing. `--note TEXT` says in the page what else was so.
 */
import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { closedLoop, type LoopResult } from "../closed-loop.ts";
import { curvesSvg } from "./curves.ts";
import type { Size } from "./growth.ts";
import { growthCurves, growthSection } from "./growth-report.ts";
import { type GrowthRow, measureGrowth, type Series } from "./measure-growth.ts";
import { compute, WAIT_MS, type works } from "./scale-tools.ts";
import { callAtRate, type Part, parts, type Scale, startScaledSystem, type Usage } from "./scaled-system.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, only: { type: "string" }, note: { type: "string" } },
});
const sections = ["raise", "rates", "growth"] as const;
if (values.only !== undefined && !sections.includes(values.only as (typeof sections)[number]))
  throw new RangeError(`--only is one of ${sections.join(", ")}: it is "${values.only}"`);
const measures = (section: (typeof sections)[number]): boolean => (values.only ?? section) === section;
const ROUNDS = values.quick ? 1 : 3;
const ROUND_MS = values.quick ? 1_500 : 3_000;
const WARM_MS = values.quick ? 1_500 : 4_000;
const RATE_MS = values.quick ? 3_000 : 15_000;
/** At once, from one process: more than any setting runs. */
const CALLS = 128;
const RATES = [100, 300, 600];

const BASE: Scale = { replicas: 1, concurrency: 8, gateways: 1, onDisk: true };
const settings: Readonly<Record<string, Scale>> = {
  "as a start": BASE,
  "concurrency 32": { ...BASE, concurrency: 32 },
  "2 replicas": { ...BASE, replicas: 2 },
  "4 replicas": { ...BASE, replicas: 4 },
  "2 gateways": { ...BASE, gateways: 2 },
  "Redis without its disk": { ...BASE, onDisk: false },
};
const tools: Readonly<Record<keyof typeof works, string>> = {
  bench_wait: `waits ${WAIT_MS} ms`,
  bench_compute: `computes ${computeMs().toFixed(0)} ms`,
  bench_nothing: "does nothing",
};

const load = loadavg()[0] ?? 0;
let versions = "RabbitMQ";
const raised: string[] = [];
for (const [name, scale] of Object.entries(measures("raise") ? settings : {})) {
  await using system = await startScaledSystem(scale);
  versions = await system.versions();
  for (const [tool, does] of Object.entries(tools)) {
    await using caller = system.callerOf(tool as keyof typeof works);
    const loop = { concurrency: CALLS, bytes: 200, payload: "text", thinkMs: 0 } as const;
    await closedLoop(caller, { ...loop, ms: WARM_MS });
    const before = await system.usage();
    const rounds: LoopResult[] = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await closedLoop(caller, { ...loop, ms: ROUND_MS }));
    const seconds = rounds.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0) / 1_000;
    const cores = coresOf(before, await system.usage(), seconds);
    const perSecond = median(rounds.map(({ calls, elapsedMs }) => (calls * 1_000) / elapsedMs));
    const p99Ms = median(rounds.map((round) => round.p99Ms));
    raised.push(
      `| ${[does, name, perSecond.toFixed(0), p99Ms.toFixed(0), ...parts.map((part) => cores[part].toFixed(2))].join(" | ")} |`,
    );
    process.stderr.write(`${raised.at(-1)}\n`);
  }
}
// By tool, each with its settings.
const bySetting = Object.keys(settings).length;
const byTool = raised.map(
  (_, index) => raised[(index % bySetting) * Object.keys(tools).length + Math.floor(index / bySetting)],
);

const sizes: string[] = [];
const perCall: string[] = [];
if (measures("rates")) {
  await using system = await startScaledSystem({ ...BASE, concurrency: 32 });
  await using caller = system.callerOf("bench_nothing");
  versions = await system.versions();
  await callAtRate(caller, { perSecond: RATES[0] ?? 0, ms: WARM_MS });
  for (const perSecond of [0, ...RATES]) {
    const before = await system.usage();
    const begun = performance.now();
    const times = perSecond === 0 ? [] : await callAtRate(caller, { perSecond, ms: RATE_MS });
    if (perSecond === 0) await new Promise((resolve) => setTimeout(resolve, RATE_MS));
    const after = await system.usage();
    const cores = coresOf(before, after, (performance.now() - begun) / 1_000);
    const figures = parts.map((part) => `${cores[part].toFixed(3)} | ${(after[part].memory / 2 ** 20).toFixed(0)}`);
    sizes.push(`| ${[perSecond, times[Math.floor(times.length * 0.99)]?.toFixed(0) ?? "–", ...figures].join(" | ")} |`);
    process.stderr.write(`${sizes.at(-1)}\n`);
    if (perSecond !== RATES.at(-1)) continue;
    for (const part of parts)
      perCall.push(
        `| ${part} | ${((cores[part] / perSecond) * 1e6).toFixed(0)} | ${(perSecond / cores[part]).toFixed(0)} |`,
      );
  }
}

const GROWTH = { idleMs: values.quick ? 3_000 : 10_000, loopMs: values.quick ? 2_000 : 6_000 };
/** What stays as it is while one thing grows. */
const SIZE: Size = { services: 10, tools: 100, callers: 10 };
const grown: Readonly<Record<keyof Size, readonly Size[]>> = {
  services: (values.quick ? [1, 10] : [1, 10, 30, 100]).map((services) => ({
    ...SIZE,
    services,
    tools: 10 * services,
  })),
  tools: (values.quick ? [100, 1_000] : [100, 1_000, 5_000]).map((tools) => ({ ...SIZE, tools })),
  callers: (values.quick ? [10, 50] : [10, 30, 100, 300, 1_000]).map((callers) => ({ ...SIZE, callers })),
};
const series: Series[] = [];
const known = new Map<string, GrowthRow>();
if (measures("growth"))
  for (const grows of ["services", "tools", "callers"] as const)
    series.push(await measureGrowth(grows, grown[grows], { ...GROWTH, known }));

function coresOf(before: Usage, after: Usage, seconds: number): Readonly<Record<Part, number>> {
  return Object.fromEntries(
    parts.map((part) => [part, (after[part].cpuUs - before[part].cpuUs) / 1e6 / seconds]),
  ) as Record<Part, number>;
}

function computeMs(): number {
  compute();
  const { user, system } = process.cpuUsage();
  for (let time = 0; time < 10; time++) compute();
  const now = process.cpuUsage();
  return (now.user + now.system - user - system) / 10 / 1_000;
}

function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN;
}

const deployed = `A service, a gateway, one RabbitMQ and one Redis run as docker compose sets them up. Senders are verified, and there are a policy, an audit log, traces and metrics. Callers call by HTTP.
Each tool has effects, so each call is a claim in Redis. Texts have 200 characters.
`;
const texts = {
  raise: `## One thing at a time

${CALLS} calls are out at once. The start is ${BASE.replicas} replica of the service with a concurrency of ${BASE.concurrency}, ${BASE.gateways} gateway, and a Redis that writes to its disk. Each row raises one thing.
Figures are medians of ${ROUNDS} rounds of ${ROUND_MS / 1_000} s, after ${WARM_MS / 1_000} s of warm-up. The right half says how many cores each part was busy with. A cluster of brokers was not measured: its nodes would share two cores.

| the tool | raised | calls/s | p99 ms | service | gateway | broker | Redis |
|---|---|---:|---:|---:|---:|---:|---:|
${byTool.join("\n")}
`,
  rates: `## By calls a second

The tool that does nothing, called at a fixed rate for ${RATE_MS / 1_000} s: cores and MiB of each part. Each has one process. Redis keeps a claim for as long as its call might come again, so its memory also grows with time.

| calls/s | p99 ms | service: cores | MiB | gateway: cores | MiB | broker: cores | MiB | Redis: cores | MiB |
|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
${sizes.join("\n")}

At ${RATES.at(-1)} calls/s, this is the processor time of a call in each part, and the calls/s that fill one core with it. It falls as the rate rises.

| part | µs per call | calls/s of one core |
|---|---:|---:|
${perCall.join("\n")}
`,
  growth: `## More services, tools and callers

![Curves: calls/s, memory and discovery, as callers, services and tools grow](scale.svg)

${growthSection(series, GROWTH)}
`,
} as const;
const report = `<!-- Written by \`npm run measure -- scale\`. Do not edit. -->
# What to raise first, what calls take, and how far it grows

Measured by \`npm run measure -- scale\` on ${cpus().length} cores (${cpus()[0]?.model ?? "unknown"}), Node ${process.versions.node}, ${versions}. The load was ${load.toFixed(1)} at
its beginning, and ${(loadavg()[0] ?? 0).toFixed(1)} with its own at its end. All processes share the machine: the callers', too.${values.note === undefined ? "" : ` ${values.note}`}

${measures("raise") || measures("rates") ? `${deployed}\n` : ""}${sections
  .filter(measures)
  .map((section) => texts[section])
  .join("\n")}`;
if (!values.quick && values.only === undefined) {
  const folder = join(import.meta.dirname, "../../../docs/measured");
  await writeFile(join(folder, "scale.md"), report);
  await writeFile(join(folder, "scale.svg"), curvesSvg(growthCurves(series)));
}
process.stdout.write(report);
