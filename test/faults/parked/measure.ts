/**
 * Measures calls that wait for people: what 10 000 of them cost each process and the calls that run, and what becomes of
 * 1 000 while every process is killed. Writes docs/measured/parked.md; `--quick` for a look, which writes nothing.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readdir, stat, truncate, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { Keep } from "@rockbot/contracts";
import { freePort, startOwnBroker, startOwnRedis, type TestRedis, temporaryFolder } from "@rockbot/testing";
import { createToolCaller, type ToolCaller } from "@rockbot/tools";
import { seededRandom } from "../../broker/seeded-random.ts";
import { startService } from "../../services/start-service.ts";
import { ASKING_POLICY, decideUnderKills } from "../decided-calls.ts";
import { startEffectService } from "../effects/start-effect-service.ts";
import { openScene, type Scene } from "../scene.ts";

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const sizes = values.quick
  ? { agents: 3, parked: 300, rounds: 1, roundMs: 3_000, overMs: 10_000 }
  : { agents: 50, parked: 10_000, rounds: 3, roundMs: 10_000, overMs: 60_000 };
const PER_SECOND = 50;
const OF_CALLER = 100;
/** What a machine that loses power may take from a log that is synced each second. */
const FORGOTTEN_MS = 1_500;
/** A clock tick of Linux, in which it counts processor time. */
const TICK_MS = 10;
const TOKEN = "of-ops";

/** A Redis that can crash: with `everysec` it forgets its last moments then, as with a machine that loses power. */
async function crashingRedis(redis: TestRedis, appendfsync: "always" | "everysec") {
  const configure = async () => {
    for (const [name, value] of Object.entries({ appendfsync, "auto-aof-rewrite-percentage": "0" }))
      await redis.ctl("config", "set", name, value);
  };
  await configure();
  const folder = join((await redis.ctl("config", "get", "dir")).trim().split(/\s+/)[1] ?? "", "appendonlydir");
  const log = join(folder, (await readdir(folder)).find((name) => name.endsWith(".incr.aof")) ?? "");
  let sizes: { readonly at: number; readonly size: number }[] = [];
  const watch = setInterval(async () => void sizes.push({ at: performance.now(), size: (await stat(log)).size }), 50);
  return {
    async crash() {
      await redis.kill();
      const kept = sizes.findLast(({ at }) => at < performance.now() - FORGOTTEN_MS);
      if (appendfsync === "everysec" && kept !== undefined) await truncate(log, kept.size);
      sizes = [];
      await redis.restart();
      await configure();
    },
    [Symbol.dispose]: () => clearInterval(watch),
  };
}

async function decidedUnderKills(appendfsync: "always" | "everysec") {
  await using broker = await startOwnBroker();
  await using redis = await startOwnRedis();
  await using scene = await openScene(broker.url, { redisUrl: redis.url, keepsAll: appendfsync === "always" });
  using crashing = await crashingRedis(redis, appendfsync);
  const random = seededRandom(48);
  const died = { Redis: 0, RabbitMQ: 0 };
  const killOther = async () => {
    if (random() < 0.6) {
      died.Redis++;
      return crashing.crash();
    }
    died.RabbitMQ++;
    await broker.kill();
    return broker.restart();
  };
  const { agents, overMs } = sizes;
  const killAfterMs = () => 4_000 + random() * 6_000;
  return { appendfsync, died, ...(await decideUnderKills(scene, { agents, overMs, random, killAfterMs, killOther })) };
}

/** Processor time and memory of each process, and what calls took, without and with calls that wait. */
async function besideParked() {
  await using started = new AsyncDisposableStack();
  const broker = started.use(await startOwnBroker());
  const redis = started.use(await startOwnRedis());
  const scene = started.use(await openScene(broker.url));
  const folder = started.use(temporaryFolder());
  const policyFile = join(folder.path, "policy.yaml");
  const hash = `sha256:${createHash("sha256").update(TOKEN).digest("hex")}`;
  const policy = ASKING_POLICY.replace("operators: [", `operators: [{ name: ops, tokens: [{ hash: "${hash}" }] }, `);
  await writeFile(policyFile, policy);
  const port = await freePort();
  const env = { BUS_URL: broker.url, REDIS_URL: redis.url, POLICY_FILE: policyFile, PORT: `${port}`, HEALTH_PORT: "0" };
  const gateway = started.use(await startService("gateway", env));
  const key =
    "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----";
  const waiting = { policy, operatorKey: key };
  const shared = { ...scene.service, redis: { url: redis.url, prefix: "rockbot" } };
  const service = started.use(await startEffectService({ ...shared, waiting }));
  const pids = {
    RabbitMQ: Number(await broker.ctl("eval", "list_to_integer(os:getpid()).")),
    Redis: Number(/process_id:(\d+)/.exec(await redis.ctl("info", "server"))?.[1]),
    gateway: gateway.pid,
    service: service.pid,
  };
  const bus = started.use(await connectBus(broker.url, { name: "measure" }));
  const caller = started.use(await createToolCaller(bus, { agent: "ada" }));
  await caller.discovered();
  const viewer = new AbortController();
  started.defer(() => viewer.abort());
  const headers = { authorization: `Bearer ${TOKEN}` };
  const stream = await fetch(`http://127.0.0.1:${port}/operator/stream`, { headers, signal: viewer.signal });
  void stream.body?.pipeTo(new WritableStream()).catch(() => {}); // aborted at the end
  const measured = [];
  await callsAtRate(scene, caller); // warms up
  for (const parked of [0, sizes.parked]) {
    await park(scene, bus, parked);
    await sleep(5_000);
    measured.push({ parked, ...(await costs(scene, caller, pids)) });
  }
  return measured;
}

/** Has so many calls wait, 100 of each caller. */
async function park(scene: Scene, bus: Parameters<typeof createToolCaller>[0], count: number): Promise<void> {
  for (let at = 0; at < count; at += OF_CALLER) {
    await using caller = await createToolCaller(bus, { agent: `of-${at}` });
    await caller.discovered();
    const options = { keep: Keep.Detached, timeoutMs: 30_000 };
    const calls = Array.from({ length: OF_CALLER }, (_, each) =>
      caller
        .call(scene.tool("effect"), { id: `${at}-${each}`, text: "x".repeat(500) }, options)
        .catch(({ code }) => code),
    );
    const others = (await Promise.all(calls)).filter((code) => code !== "pending");
    if (others.length > 0) throw new Error(`Calls that were to wait ended in ${others.join(", ")}`);
  }
}

async function costs(scene: Scene, caller: ToolCaller, pids: Readonly<Record<string, number>>) {
  const rounds: { readonly idle: Record<string, number>; readonly busy: Record<string, number>; took: number[] }[] = [];
  for (let round = 0; round < sizes.rounds; round++) {
    const { cores: idle } = await coresOf(pids, () => sleep(sizes.roundMs));
    const { cores: busy, result: took } = await coresOf(pids, () => callsAtRate(scene, caller));
    rounds.push({ idle, busy, took });
  }
  const took = rounds.flatMap((round) => round.took).sort((a, b) => a - b);
  const rank = (part: number) => took[Math.ceil(part * took.length) - 1] ?? Number.NaN;
  const processes = Object.entries(pids).map(([name, pid]) => {
    const median = (of: "idle" | "busy") =>
      rounds.map((round) => round[of][name] ?? 0).sort((a, b) => a - b)[Math.floor(rounds.length / 2)] ?? 0;
    const memory = Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
    return { name, memory, idle: median("idle"), busy: median("busy") };
  });
  return { processes, calls: took.length, p50: rank(0.5), p99: rank(0.99) };
}

/** The parts of a core that each process takes meanwhile. */
async function coresOf<T>(pids: Readonly<Record<string, number>>, work: () => Promise<T>) {
  const ticks = () => Object.entries(pids).map(([name, pid]) => [name, cpuMs(pid)] as const);
  const before = Object.fromEntries(ticks());
  const start = performance.now();
  const result = await work();
  const tookMs = performance.now() - start;
  const cores = Object.fromEntries(ticks().map(([name, ms]) => [name, (ms - (before[name] ?? 0)) / tookMs]));
  return { cores, result };
}

/** Makes calls that no rule asks about, and says in milliseconds what each took. */
async function callsAtRate(scene: Scene, caller: ToolCaller): Promise<number[]> {
  const took: number[] = [];
  const out: Promise<void>[] = [];
  const start = performance.now();
  while (performance.now() - start < sizes.roundMs) {
    const at = performance.now();
    out.push(caller.call(scene.tool("repeat"), { id: "x" }).then(() => void took.push(performance.now() - at)));
    await sleep(Math.max(0, start + (out.length * 1_000) / PER_SECOND - performance.now()));
  }
  await Promise.all(out);
  return took;
}

function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

const load = loadavg()[0] ?? 0;
const [without, parked] = (await besideParked()) as [Measured, Measured];
type Measured = Awaited<ReturnType<typeof besideParked>>[number];
const decided = [await decidedUnderKills("always"), await decidedUnderKills("everysec")];
const mb = (of: number) => of.toFixed(0);
const percent = (of: number) => `${(of * 100).toFixed(1)} %`;
const rows = without.processes.map((before, at) => {
  const after = parked.processes[at] ?? before;
  return `| ${before.name} | ${mb(before.memory)} | ${mb(after.memory)} | ${percent(before.idle)} | ${percent(after.idle)} | ${percent(before.busy)} | ${percent(after.busy)} |`;
});
const page = `<!-- Written by \`npm run measure -- parked\`. Do not edit. -->
# Calls that wait for people

Measured by \`npm run measure -- parked\` on ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), Node ${process.versions.node}, at a load of ${load.toFixed(1)} from elsewhere. Broker, Redis, gateway, service and callers share
the machine. A load above the number of cores makes times and processor time coarse. It changes neither memory nor counts.

## ${parked.parked} that wait, beside none

| process | memory, MB: 0 | ${parked.parked} | processor, idle: 0 | ${parked.parked} | at ${PER_SECOND} calls/s: 0 | ${parked.parked} |
|---|---|---|---|---|---|---|
${rows.join("\n")}

| calls that run at ${PER_SECOND}/s | p50 | p99 |
|---|---|---|
${[without, parked].map(({ parked: beside, calls, p50, p99 }) => `| ${calls} beside ${beside} that wait | ${p50.toFixed(1)} ms | ${p99.toFixed(1)} ms |`).join("\n")}

Each call that waits has 500 characters of arguments. ${OF_CALLER} of each caller wait. One viewer of the console looks on all the time. Processor time is the median of ${sizes.rounds} rounds of ${sizes.roundMs / 1_000} s, as % of a core.

## Every process killed

Two instances of the service, Redis and RabbitMQ are killed at random, from the first call on. With \`everysec\` each kill of Redis takes the last ${FORGOTTEN_MS / 1_000} s from its log, as a machine that loses power may.

| \`appendfsync\` | calls | kills of services, Redis, RabbitMQ | lost, and not run | ran twice, undecided, or otherwise than decided |
|---|---|---|---|---|
${decided.map(({ appendfsync, calls, deaths, died, lost, faults }) => `| \`${appendfsync}\` | ${calls} | ${deaths - died.Redis - died.RabbitMQ}, ${died.Redis}, ${died.RabbitMQ} | ${lost} | ${faults.length} |`).join("\n")}

${decided
  .map(
    ({ appendfsync, ends }) =>
      `- \`${appendfsync}\`, each decision and how the call ended: ${Object.entries(ends)
        .sort()
        .map(([end, count]) => `${end} ${count}`)
        .join(", ")}.`,
  )
  .join("\n")}
`;
process.stdout.write(page);
for (const { faults } of decided) for (const fault of faults) process.stderr.write(`${fault}\n`);
if (decided.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
if (!values.quick) await writeFile(join(import.meta.dirname, "../../../docs/measured/parked.md"), page);
process.exit(); // whatever is left open has nothing to say
