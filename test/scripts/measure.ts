/**
 * Measures what a script costs in each kind of sandbox, beside the interpreter itself: writes docs/measured/scripts.md.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { silentLogger } from "@rockbot/bus";
import { defaultSandboxLimits, pooledRunner, runJob, type SandboxMaker } from "@rockbot/sandbox";
import { containers, localMakers, pods } from "./open-makers.ts";

const CALLS = Number(process.env["ROCKBOT_BENCH_CALLS"] ?? 200);
const KEEP_BYTES = 64 * 1024;
const INTERPRETER = "the interpreter itself, `-c pass`";
/** The aims for the p50, in milliseconds, given the interpreter's. */
const aims: Readonly<Record<string, (interpreterMs: number) => number>> = {
  "local, warm": () => 30,
  "local, cold": (interpreterMs) => 1.5 * interpreterMs,
};

const run = promisify(execFile);
const signal = new AbortController().signal;
const job = (): { id: string; script: string; timeoutMs: number } => ({
  id: randomBytes(16).toString("hex"),
  script: "pass",
  timeoutMs: 30_000,
});
const load = loadavg()[0] ?? 0;

const quantile = (sorted: readonly number[], part: number): string =>
  (sorted[Math.ceil(sorted.length * part) - 1] ?? Number.NaN).toFixed(1);
const rows = new Map<string, readonly number[]>();
const notMeasured: string[] = [];
const python = (await run("python3", ["-c", "import os, sys; print(os.path.realpath(sys.executable))"])).stdout.trim();
await measure(INTERPRETER, async () => await timed(() => run(python, ["-c", "pass"])));
for (const { kind, missing, open } of [...localMakers, containers, pods]) {
  if (missing !== undefined) {
    notMeasured.push(`${kind}: ${missing}`);
    continue;
  }
  await using opened = await open(defaultSandboxLimits);
  const { maker } = opened;
  await measure(`${kind}, cold`, () => cold(maker));
  await using runner = pooledRunner(maker, {
    floor: 4,
    ceiling: 6,
    idleMs: 600_000,
    keepBytes: KEEP_BYTES,
    log: silentLogger,
  });
  await measure(`${kind}, warm`, async () => {
    for (;;) {
      let isWarm = false;
      const ms = await timed(async () => {
        ({ isWarm } = await runner.run(job(), { signal, deadline: performance.now() + 60_000 }));
      });
      // What it takes to make the next one is not what a call waits for.
      await setTimeout(kind.startsWith("local") ? 250 : 1_500);
      if (isWarm) return ms;
    }
  });
}

const interpreterMs = Number(
  quantile(
    (rows.get(INTERPRETER) ?? []).toSorted((a, b) => a - b),
    0.5,
  ),
);
const lines = [...rows].map(([name, times]) => {
  const sorted = times.toSorted((a, b) => a - b);
  const aim = aims[name]?.(interpreterMs).toFixed(1) ?? "";
  return `| ${name} | ${quantile(sorted, 0.5)} | ${quantile(sorted, 0.95)} | ${aim} |`;
});
await writeFile(
  join(import.meta.dirname, "../../docs/measured/scripts.md"),
  `<!-- Written by \`npm run measure -- scripts\`. Do not edit. -->
# What a script costs

Measured by \`npm run measure -- scripts\` on ${cpus().length} cores (${cpus()[0]?.model ?? "unknown"}), Node ${process.versions.node}, at a load of ${load.toFixed(1)} from elsewhere.

Each row is ${CALLS} calls, one after another, of a script that does nothing, from the job to its outcome, in milliseconds. Cold: with the making of
the sandbox. Warm: by a pool that has one, and makes the next one meanwhile.

| | p50 | p95 | aim for p50 |
|---|---|---|---|
${lines.join("\n")}
${notMeasured.length === 0 ? "" : `\nNot measured: ${notMeasured.join("; ")}.\n`}`,
);

async function measure(name: string, call: () => Promise<number>): Promise<void> {
  const times: number[] = [];
  for (let calls = 0; calls < CALLS; calls++) times.push(await call());
  rows.set(name, times);
  process.stderr.write(
    `${name}: p50 ${quantile(
      times.toSorted((a, b) => a - b),
      0.5,
    )} ms\n`,
  );
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function cold(maker: SandboxMaker): Promise<number> {
  const one = job();
  const begun = performance.now();
  await using sandbox = await maker.make({ signal, jobId: one.id });
  await sandbox.assign?.(one);
  await runJob(sandbox, one, { signal, keepBytes: KEEP_BYTES });
  return performance.now() - begun;
}
