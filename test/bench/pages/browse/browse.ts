/**
 * Measures many browses of large pages at once, over RabbitMQ, with and without a hostile page among them: `npm run
 * measure -- browse [--out FOLDER]`. The web tools are a process as in a deployment, and the site is one of this machine.
 * With `--out` the figures become the last part of its web-pages.md.
 */
import { readFile, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { services } from "@rockbot/services";
import { startOwnBroker, startPageServer } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { bundleService } from "../../../../scripts/bundle/bundle-service.ts";
import { startProgram, untilReady } from "../../../services/start-service.ts";
import { memoryByProcess, treeCpuUs } from "../../place/processor-time.ts";
import { hostilePages, largePages } from "./large-pages.ts";

const AT_ONCE = 64;
const SAMPLE_MS = 500;

const { values } = parseArgs({ options: { calls: { type: "string", default: "192" }, out: { type: "string" } } });
const calls = Number(values.calls);

/** The memory of web tools, and of each converter, in bytes. */
interface Memory {
  readonly webTools: number;
  readonly converters: readonly number[];
}

interface Figures {
  readonly name: string;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMs: number;
  /** At the moment when they had most together. */
  readonly memory: Memory;
  readonly failures: readonly string[];
  readonly hostile: number;
}

const pages = await largePages(16);
await using broker = await startOwnBroker();
await using site = await startPageServer({
  ...Object.fromEntries(pages.map((page, index) => [`/page/${index}`, page])),
  "/small": "<main><h1>Small</h1><p>A page of some words.",
  ...Object.fromEntries(hostilePages.map((page, index) => [`/hostile/${index}`, page])),
});
const rows: Figures[] = [];
const idle: string[] = [];
/** The bundle is that of an image, by its Dockerfile, and of a deployment of it. */
const { file: bundle } = await bundleService(join(import.meta.dirname, "../../../.."), "web-tools");
const nodeArgs = ["--no-allocation-site-pretenuring"];
const { environment } = services.find(({ name }) => name === "web-tools")?.deployment ?? {};
for (const converters of [1, 2]) {
  const env = {
    BUS_URL: broker.url,
    ALLOW_ADDRESSES: `127.0.0.1:${site.port}`,
    CONVERTERS: String(converters),
    ...environment,
    NODE_ENV: "production",
  };
  await using service = await untilReady("web-tools", startProgram(bundle, { env, nodeArgs }), '"msg":"ready"');
  await using bus = await connectBus(broker.url);
  await using caller = await createToolCaller(bus, { agent: "bench" });
  await caller.discovered();
  const begun = await memoryOf(service.pid);
  const browse = async (path: string): Promise<void> =>
    void (await caller.call("web_browse", { url: site.url + encodeURI(path) }));
  const name = converters === 1 ? "1 converter, the default" : `${converters} converters`;
  await browse("/small");
  idle.push(
    `With ${name}, web tools have ${mb(begun)} MB once they are ready, and ${mb(await memoryOf(service.pid))} MB after a first small page.`,
  );
  for (let index = 0; index < pages.length; index++) await browse(`/page/${index}`); // warms up
  for (const isHostile of [false, true])
    rows.push(
      await measure(isHostile ? `${name}, and a caller of hostile pages` : name, browse, service.pid, isHostile),
    );
}

const report = toMarkdown(rows);
process.stdout.write(report);
if (values.out !== undefined) {
  const file = join(values.out, "web-pages.md");
  const before = (await readFile(file, "utf8").catch(() => "")).split("\n## Many browses at once")[0] ?? "";
  await writeFile(file, `${before.trimEnd()}\n\n${report}`);
}

async function measure(
  name: string,
  browse: (path: string) => Promise<void>,
  pid: number,
  isHostile: boolean,
): Promise<Figures> {
  process.stderr.write(`${name}\n`);
  const failures: string[] = [];
  const times: number[] = [];
  let memory: Memory = { webTools: 0, converters: [] };
  const sampler = setInterval(
    () => void memoryOf(pid).then((now) => (memory = sumOf(now) > sumOf(memory) ? now : memory)),
    SAMPLE_MS,
  );
  const cpuBefore = await treeCpuUs(pid);
  const begun = performance.now();
  let next = 0;
  let isOver = false;
  let hostile = 0;
  const hostileCaller = async (): Promise<void> => {
    while (isHostile && !isOver) await browse(`/hostile/${hostile++ % hostilePages.length}?${hostile}`).catch(() => {}); // the tool may refuse it
  };
  const goodCaller = async (): Promise<void> => {
    while (next < calls) {
      const path = `/page/${next++ % pages.length}?${name}${next}`; // no address twice: answers may be kept
      const startedAt = performance.now();
      await browse(path).then(
        () => times.push(performance.now() - startedAt),
        (error: unknown) => failures.push(String(error)),
      );
    }
  };
  const hostiles = hostileCaller();
  await Promise.all(Array.from({ length: AT_ONCE }, goodCaller));
  const seconds = (performance.now() - begun) / 1000;
  isOver = true;
  await hostiles;
  clearInterval(sampler);
  const cpuMs = ((await treeCpuUs(pid)) - cpuBefore) / 1000 / Math.max(1, times.length);
  for (const failure of new Set(failures)) process.stderr.write(`${failure}\n`);
  const at = (share: number): number =>
    times.toSorted((a, b) => a - b)[Math.ceil(share * times.length) - 1] ?? Number.NaN;
  return { name, perSecond: times.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99), cpuMs, memory, failures, hostile };
}

async function memoryOf(pid: number): Promise<Memory> {
  const [webTools, ...converters] = await memoryByProcess(pid);
  return { webTools: webTools ?? 0, converters };
}

function sumOf({ webTools, converters }: Memory): number {
  return converters.reduce((sum, bytes) => sum + bytes, webTools);
}

/** The sum, and what it is made of. */
function mb(memory: Memory): string {
  const parts = [memory.webTools, ...memory.converters].map((bytes) => (bytes / 1e6).toFixed(0));
  return `${(sumOf(memory) / 1e6).toFixed(0)}${parts.length === 1 ? "" : ` (${parts.join(" + ")})`}`;
}

function toMarkdown(measured: readonly Figures[]): string {
  return `## Many browses at once

Measured by \`npm run measure -- browse\` on ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), Node ${process.versions.node}, at a load of ${(loadavg()[2] ?? 0).toFixed(1)}.
Over RabbitMQ ${AT_ONCE} callers browse pages of a megabyte, ${calls} in all, each as soon as its last answer has come. Web tools are one process with its converters, the site
and the callers another. A further caller takes one hostile page after the other. Each stays just below a bound of the converter: of blocks, selectors, values, depth, repetition, or nodes.
CPU is that of web tools and their converters for each good page. Memory is the largest sum of theirs, and in brackets web tools and each converter at that moment.
Memory that they share, such as the code of Node, counts in equal parts, as in a container.

| web tools | pages/s | p50 ms | p99 ms | CPU ms a page | peak MB | failed | hostile pages |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
${measured.map(({ name, perSecond, p50Ms, p99Ms, cpuMs, memory, failures, hostile }) => `| ${name} | ${perSecond.toFixed(1)} | ${p50Ms.toFixed(0)} | ${p99Ms.toFixed(0)} | ${cpuMs.toFixed(0)} | ${mb(memory)} | ${failures.length} | ${hostile} |`).join("\n")}

${idle.join("\n")}
`;
}
