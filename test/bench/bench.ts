/**
 * Measures what a call costs beside other ways of making it: all contenders in one run, round by round in turn, each
 * figure set against the reference in the same round, so that what else the machine does falls on all alike.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startOwnBroker, startOwnRedis } from "@rockbot/testing";
import { installApart } from "../../scripts/apart/install-apart.ts";
import { seededRandom } from "../broker/seeded-random.ts";
import type { Load, LoopOptions, LoopResult } from "./closed-loop.ts";
import { contenders } from "./contenders.ts";
import { type BenchOptions, readOptions, usage } from "./options.ts";
import { preparePlace } from "./place/prepare-place.ts";
import { findErlangNode, treeCpuUs } from "./place/processor-time.ts";
import { type Run, toCases, toMarkdown } from "./report/report.ts";
import type { Round } from "./report/summary.ts";
import { type Peer, startPeer } from "./start-peer.ts";

interface Running {
  readonly name: string;
  readonly caller: Peer;
  /** The service, and what is between it and the caller. */
  readonly behind: readonly Peer[];
}

/**
 * After so many calls, or so long, code is as fast as it gets: ours, of which a call runs most, still got faster after
 * 50,000.
 */
const WARM_CALLS = 80_000;
const WARM_MS = 30_000;
/** What a turn begins with, unmeasured: who has waited for its turn is slow at first. */
const LEAD_IN_MS = 400;
/** What is left of a round in queues and buffers is done by then. */
const SETTLE_MS = 20;
/** The calls in a round of a caller that thinks. */
const PACED_CALLS = 20;

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
  const versions = options.contenders.some((name) => contenders[name]?.isForeign)
    ? await installApart(import.meta.dirname)
    : {};
  await using stack = new AsyncDisposableStack();
  const broker = stack.use(await startOwnBroker());
  const redis = stack.use(await startOwnRedis());
  const brokerPid = await findErlangNode((await broker.ctl("eval", "node().")).trim().replaceAll("'", ""));
  const redisPid = Number(/process_id:(\d+)/.exec(await redis.ctl("info", "server"))?.[1]);
  const place = await preparePlace(stack, broker, redis);
  /**
   * Why contenders are out, in their words. What is measured of the others, and of them before, counts all the same.
   */
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
    const { file, isLocal, hasFront } = contenders[name] as (typeof contenders)[string];
    const path = join(import.meta.dirname, "contenders", file);
    await attempt(name, async () => {
      // The service first: a caller may look for it at once.
      const { profiles } = options;
      const behind = isLocal ? [] : [stack.use(await startPeer(path, "service", place, { profiles }))];
      if (hasFront) behind.push(stack.use(await startPeer(path, "front", place, { profiles })));
      running.push({
        name,
        behind,
        caller: stack.use(await startPeer(path, "caller", place, { profiles, front: behind.at(-1)?.address })),
      });
    });
  }

  const random = seededRandom(options.seed);
  const rounds: Round[] = [];
  for (const { name, caller } of running) await attempt(name, () => warmUp(caller));
  for (const load of loadsOf(options)) {
    process.stderr.write(`${JSON.stringify(load)}\n`);
    const ms = load.thinkMs > 0 ? Math.max(options.roundMs, PACED_CALLS * load.thinkMs) : options.roundMs;
    for (let round = 0; round <= options.rounds; round++) {
      for (const contender of shuffled(running, random)) {
        if (load.thinkMs > 0 && contenders[contender.name]?.isLocal) continue; // as long as a call in a process takes, it is no matter
        if (contenders[contender.name]?.isPart && !isForParts(load)) continue;
        await attempt(contender.name, async () => {
          const result = await measure(contender, { ...load, brokerPid, redisPid, ms });
          if (round > 0) rounds.push({ ...result, ...load, round }); // the first one warms up
        });
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
  await mkdir(join(out, "data"), { recursive: true });
  await writeFile(join(out, "bench.md"), markdown);
  await writeFile(join(out, "data/bench.json"), `${JSON.stringify(run, null, 2)}\n`);
}

/** The cases, in their order: each payload with each concurrency, and a lone caller that thinks. */
function loadsOf({ payloads, concurrency, thinkMs }: BenchOptions): Load[] {
  const loads = payloads.flatMap((size) =>
    concurrency.map((calls): Load => ({ ...size, concurrency: calls, thinkMs: 0 })),
  );
  return thinkMs === undefined ? loads : [...loads, { payload: "text", bytes: 200, concurrency: 1, thinkMs }];
}

/** The case that says what each part of a deployed system costs. */
function isForParts({ payload, bytes, concurrency, thinkMs }: Load): boolean {
  return payload === "text" && bytes === 200 && concurrency === 64 && thinkMs === 0;
}

async function warmUp(caller: Peer): Promise<void> {
  const until = performance.now() + WARM_MS;
  for (let calls = 0; calls < WARM_CALLS && performance.now() < until; )
    calls += (await caller.round({ ms: 500, concurrency: 64, bytes: 200, payload: "text", thinkMs: 0 })).calls;
}

async function measure(
  { name, caller, behind }: Running,
  { brokerPid, redisPid, ...loop }: LoopOptions & { readonly brokerPid: number; readonly redisPid: number },
): Promise<LoopResult & Pick<Round, "contender" | "serviceCpuUs" | "brokerCpuUs" | "redisCpuUs">> {
  async function readCpu(): Promise<readonly [number, number, number]> {
    const ofPeers = await Promise.all(behind.map((peer) => peer.cpuUs()));
    const own = ofPeers.reduce((sum, us) => sum + us, 0);
    return behind.length === 0 ? [own, 0, 0] : [own, await treeCpuUs(brokerPid), await treeCpuUs(redisPid)];
  }
  await caller.round({ ...loop, ms: LEAD_IN_MS });
  await sleep(SETTLE_MS);
  const [serviceBefore, brokerBefore, redisBefore] = await readCpu();
  const result = await caller.round(loop);
  await sleep(SETTLE_MS);
  const [serviceAfter, brokerAfter, redisAfter] = await readCpu();
  return {
    contender: name,
    ...result,
    serviceCpuUs: serviceAfter - serviceBefore,
    brokerCpuUs: brokerAfter - brokerBefore,
    redisCpuUs: redisAfter - redisBefore,
  };
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
