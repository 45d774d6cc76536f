/**
 * Measures what a call costs beside other ways of making it: all contenders in one run, round by round in turn, each figure
 * set against the reference in the same round, so that what else the machine does falls on all alike.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startOwnBroker, startOwnRedis } from "@rockbot/testing";
import { seededRandom } from "../broker/seeded-random.ts";
import type { Place } from "./contender.ts";
import { contenders } from "./contenders.ts";
import { installContenders } from "./install-contenders.ts";
import { type BenchOptions, readOptions, usage } from "./options.ts";
import { findErlangNode, treeCpuUs } from "./processor-time.ts";
import { type Run, toCases, toMarkdown } from "./report.ts";
import { type Peer, startPeer } from "./start-peer.ts";
import type { Round } from "./summary.ts";

interface Running {
  readonly name: string;
  readonly caller: Peer;
  readonly service: Peer | undefined;
}

/** After so many calls, or so long, code is as fast as it gets: ours, of which a call runs most, still got faster after 50,000. */
const WARM_CALLS = 80_000;
const WARM_MS = 30_000;
/** What a turn begins with, unmeasured: who has waited for its turn is slow at first. */
const LEAD_IN_MS = 400;
/** What is left of a round in queues and buffers is done by then. */
const SETTLE_MS = 20;

const args = process.argv.slice(2);
try {
  if (args.includes("--help")) process.stdout.write(usage);
  else await bench(readOptions(args));
} catch (error) {
  const isUsage = error instanceof RangeError || (error as NodeJS.ErrnoException).code?.startsWith("ERR_PARSE_ARGS");
  process.stderr.write(`${(error as Error).message}\n${isUsage ? `\n${usage}` : ""}`);
  process.exitCode = 1;
}

async function bench(options: BenchOptions): Promise<void> {
  const versions = options.contenders.some((name) => contenders[name]?.isForeign) ? await installContenders() : {};
  await using stack = new AsyncDisposableStack();
  const broker = stack.use(await startOwnBroker());
  const redis = stack.use(await startOwnRedis());
  const brokerPid = await findErlangNode((await broker.ctl("eval", "node().")).trim().replaceAll("'", ""));
  const place: Place = { amqpUrl: await broker.directUrl(), redisUrl: await redis.directUrl() };
  /** Why contenders are out, in their words. What is measured of the others, and of them before, counts all the same. */
  const failures: Record<string, string> = {};
  async function attempt(name: string, step: () => Promise<void>): Promise<void> {
    if (failures[name] !== undefined) return;
    await step().catch((error: unknown) => {
      failures[name] = error instanceof Error ? error.message : String(error);
      process.stderr.write(`${name} is out: ${failures[name]}\n`);
    });
  }

  const running: Running[] = [];
  for (const name of options.contenders) {
    const { file, isLocal } = contenders[name] as (typeof contenders)[string];
    const path = join(import.meta.dirname, "contenders", file);
    await attempt(name, async () => {
      // The service first: a caller may look for it at once.
      const service = isLocal ? undefined : stack.use(await startPeer(path, "service", place, options.profiles));
      running.push({ name, service, caller: stack.use(await startPeer(path, "caller", place, options.profiles)) });
    });
  }

  const random = seededRandom(options.seed);
  const rounds: Round[] = [];
  for (const { name, caller } of running) await attempt(name, () => warmUp(caller));
  for (const bytes of options.bytes) {
    for (const concurrency of options.concurrency) {
      process.stderr.write(`${bytes} B, ${concurrency} at once\n`);
      for (let round = 0; round <= options.rounds; round++) {
        for (const contender of shuffled(running, random)) {
          await attempt(contender.name, async () => {
            const result = await measure(contender, { brokerPid, ms: options.roundMs, concurrency, bytes });
            if (round > 0) rounds.push({ ...result, round }); // the first one warms up
          });
        }
      }
    }
  }

  const cases = toCases(rounds);
  const machine = {
    node: process.version,
    rabbitmq: (await broker.ctl("eval", "rabbit_misc:version().")).trim().replaceAll('"', ""),
    redis: /redis_version:(\S+)/.exec(await redis.ctl("info", "server"))?.[1],
    processor: `${cpus().length} × ${cpus()[0]?.model.trim()}`,
    load: (loadavg()[2] ?? 0).toFixed(1),
  };
  const { out, profiles: _profiles, ...kept } = options;
  const run: Run = { options: kept, machine, versions, failures, cases };
  const markdown = toMarkdown(run);
  process.stdout.write(markdown);
  if (Object.keys(failures).length > 0) process.exitCode = 1;
  if (out === undefined) return;
  await mkdir(out, { recursive: true });
  await writeFile(join(out, "bench.md"), markdown);
  await writeFile(join(out, "bench.json"), `${JSON.stringify(run, null, 2)}\n`);
}

async function warmUp(caller: Peer): Promise<void> {
  const until = performance.now() + WARM_MS;
  for (let calls = 0; calls < WARM_CALLS && performance.now() < until; ) calls += (await caller.round({ ms: 500, concurrency: 64, bytes: 200 })).calls;
}

async function measure(
  { name, caller, service }: Running,
  { brokerPid, ...loop }: { readonly brokerPid: number; readonly ms: number; readonly concurrency: number; readonly bytes: number },
): Promise<Omit<Round, "round">> {
  const readCpu = async (): Promise<readonly [number, number]> => [(await service?.cpuUs()) ?? 0, service === undefined ? 0 : await treeCpuUs(brokerPid)];
  await caller.round({ ...loop, ms: LEAD_IN_MS });
  await sleep(SETTLE_MS);
  const [serviceBefore, brokerBefore] = await readCpu();
  const result = await caller.round(loop);
  await sleep(SETTLE_MS);
  const [serviceAfter, brokerAfter] = await readCpu();
  return { contender: name, ...loop, ...result, serviceCpuUs: serviceAfter - serviceBefore, brokerCpuUs: brokerAfter - brokerBefore };
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
