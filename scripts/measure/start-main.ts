/**
 * Measures each bundled service, or those named: start to ready and idle memory, and what each library costs alone.
 * `npm run measure -- start [--runs N] [SERVICE...]`; a table on stderr, JSON on stdout. For Linux, which has /proc.
 */
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { services } from "@rockbot/services";
import { bundleService } from "../bundle/bundle-service.ts";
import { measureImports } from "./measure-imports.ts";
import { measureService } from "./measure-service.ts";
import { median } from "./median.ts";

const root = dirname(dirname(import.meta.dirname));
const { values, positionals } = parseArgs({
  options: { runs: { type: "string", default: "9" } },
  allowPositionals: true,
});
const runs = Number(values.runs);
if (!Number.isInteger(runs) || runs < 1)
  throw new RangeError(`Cannot measure: --runs must be a positive integer, not "${values.runs}"`);
const asked = positionals.length > 0 ? positionals : services.map(({ name }) => name);

const report: Record<string, unknown> = {};
for (const service of asked) {
  const { file, bytes, metafile } = await bundleService(root, service);
  const measured = [];
  for (let run = 0; run < runs; run++) measured.push(await measureService(join(root, file)));
  const imports = await measureImports(root, metafile);
  const summary = {
    runs,
    bundleKiB: rounded(bytes / 1024),
    readyMs: rounded(median(measured.map(({ readyMs }) => readyMs))),
    slowestReadyMs: rounded(Math.max(...measured.map(({ readyMs }) => readyMs))),
    idleMiB: rounded(median(measured.map(({ idleMiB }) => idleMiB))),
    stopMs: rounded(median(measured.map(({ stopMs }) => stopMs))),
  };
  report[service] = { ...summary, imports };
  console.error(
    `\n${service}: ready in ${summary.readyMs} ms (slowest ${summary.slowestReadyMs}), ${summary.idleMiB} MiB idle, stops in ${summary.stopMs} ms, ` +
      `bundle ${summary.bundleKiB} KiB, median of ${runs}`,
  );
  console.error(`  ${"library".padEnd(52)}${"KiB".padStart(7)}${"ms".padStart(7)}${"MiB".padStart(7)}`);
  for (const { specifier, isEager, kiB, ms, residentMiB } of imports) {
    const cells = [kiB, ms, residentMiB].map((value) => value.toFixed(value < 100 ? 1 : 0).padStart(7)).join("");
    console.error(`  ${(isEager ? specifier : `${specifier} (when needed)`).padEnd(52)}${cells}`);
  }
}
console.log(
  JSON.stringify(
    { node: process.version, platform: `${process.platform}-${process.arch}`, services: report },
    undefined,
    2,
  ),
);

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
