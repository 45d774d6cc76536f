/**
 * Measures the images that `npm run images -- --tag TAG` has built, and writes docs/measured/images.md:
 * `test/compose/measure-images.ts [--runs N] [--tag TAG]`. Each runs as nobody, with a read-only root and without
 * capabilities.
 */
import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { services } from "@rockbot/services";
import { docker } from "@rockbot/testing";
import { median } from "../../scripts/measure/median.ts";
import { engineOptions, type ImageFigures, imageSizes, measureImage } from "./measure-image.ts";

const root = dirname(dirname(import.meta.dirname));
const { values } = parseArgs({
  options: { runs: { type: "string", default: "5" }, tag: { type: "string", default: "dev" } },
});
const runs = Number(values.runs);
if (!Number.isInteger(runs) || runs < 1)
  throw new RangeError(`Cannot measure: --runs must be a positive integer, not "${values.runs}"`);

const load = loadavg()[0] ?? 0;
const rows: string[] = [];
for (const { name, egress } of services) {
  const options = egress.includes("containers") ? await engineOptions() : []; // ready only where it has sandboxes
  const measured: ImageFigures[] = [];
  for (let run = 0; run < runs; run++) measured.push(await measureImage(`rockbot/${name}:${values.tag}`, options));
  const of = (key: "sizeMB" | "appMB" | "readyMs" | "idleMiB" | "stopMs", digits: number) =>
    median(measured.map((figures) => figures[key])).toFixed(digits);
  rows.push(
    `| ${name} | ${of("sizeMB", 0)} | ${of("appMB", 1)} | ${of("readyMs", 0)} | ${of("idleMiB", 0)} | ${of("stopMs", 0)} |`,
  );
  console.error(rows.at(-1));
}
const command = await imageSizes(`rockbot/cli:${values.tag}`);
rows.push(`| cli | ${command.sizeMB.toFixed(0)} | ${command.appMB.toFixed(1)} | | | |`);
const engine = (await docker(["version", "--format", "{{.Server.Version}}"])).trim();
await writeFile(
  join(root, "docs/measured/images.md"),
  `<!-- Written by \`npm run measure -- images\`. Do not edit. -->
# What the images weigh

Measured by \`npm run measure -- images\` on ${cpus().length} cores (${cpus()[0]?.model.trim()}), Docker ${engine}, Node ${process.versions.node}, at a load of ${load.toFixed(1)} from elsewhere.
Each figure is the median of ${runs}. Each container has a read-only root, no capability, no way to new privileges, and the user 65534. Its bus is in memory.

- Size is that of the uncompressed image. All images share one layer with Node and its libraries; the app is the layer that only one image has.
- Ready is the time from \`docker run\` to the first 200 of \`/readyz\`. Stop is the time from SIGTERM to the end.
- scripts-manager has the socket of the engine, and is ready when a container for a script is. The command ends by itself.
- Memory is what the engine counts one second after that.

| image | size, MB | app, MB | ready, ms | idle, MiB | stop, ms |
|---|---:|---:|---:|---:|---:|
${rows.join("\n")}
`,
);
