import { generateKeyPairSync } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bus } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { Keep, ToolError } from "@rockbot/contracts";
import { type Run, RunState, signDecision } from "@rockbot/runs";
import { connectRedisRunStore } from "@rockbot/runs/redis";
import { createToolCaller } from "@rockbot/tools";
import { createCommander } from "@rockbot/tools/commands";
import { type KeptService, keepEffectService } from "./effects/start-effect-service.ts";
import type { Scene } from "./scene.ts";

/** What becomes of a call: two operators may decide, and sometimes both do at once. */
const fates = ["approved", "approved", "raced", "rejected", "undecided"] as const;
type Fate = (typeof fates)[number];
/** The codes in which a call may end, by what was decided. */
const codes: Readonly<Record<Fate, readonly string[]>> = {
  approved: ["ok", "outcome_unknown"],
  raced: ["ok", "outcome_unknown", "denied"],
  rejected: ["denied"],
  undecided: [RunState.Parked],
};
const CALLS_PER_AGENT = 20;
/** All has ended, or answers again, so long after the last death. */
const DRAIN_MS = 180_000;
const token = (letter: string) => `tokens: [{ hash: "sha256:${letter.repeat(64)}" }], may: [decide]`;
/** Two operators, of whom one approves each call of `effect`. */
export const ASKING_POLICY = `everyone: { allow: ["*"] }
operators: [{ name: ann, ${token("a")} }, { name: bob, ${token("b")} }]
approve: [{ tools: ["effect_*"], by: [ann, bob] }]`;

export interface DecidedCallsOptions {
  readonly agents: number;
  /** The decisions come within this time. */
  readonly overMs: number;
  readonly random: () => number;
  /** The next thing dies after so long. */
  readonly killAfterMs: () => number;
  /** Kills something else than an instance of the service. It dies as often as those. */
  readonly killOther?: (() => Promise<void>) | undefined;
}

/** What became of calls that wait. */
export interface DecidedCalls {
  readonly calls: number;
  readonly deaths: number;
  /** How many had each fate and end, by `approved ok`. */
  readonly ends: Readonly<Record<string, number>>;
  /** Calls whose record is gone. */
  readonly lost: number;
  /** What must not be, in words. */
  readonly faults: readonly string[];
}

/**
 * Has calls wait for people, decides about them while both instances of their service are killed, and looks in the
 * ledger for what ran. Where something else dies, records may be lost with it, from the first call on.
 */
export async function decideUnderKills(scene: Scene, options: DecidedCallsOptions): Promise<DecidedCalls> {
  const { agents, overMs, random, killAfterMs, killOther } = options;
  const { service, redis, busUrl } = scene.service;
  if (redis === undefined) throw new Error("the scene has no Redis");
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const waiting = {
    policy: ASKING_POLICY,
    operatorKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
  };
  await using one = await keepEffectService({ ...scene.service, waiting });
  await using two = await keepEffectService({ ...scene.service, waiting });
  await using runs = await connectRedisRunStore(redis.url, { prefix: redis.prefix });
  await using bus = await connectBus(busUrl, { name: "gateway" });
  await using commander = createCommander(bus, { key: privateKey, source: "gateway", policy: undefined });
  const calls = Array.from({ length: agents * CALLS_PER_AGENT }, (_, at) => ({
    service,
    caller: `${scene.agent}-${at % agents}`,
    toolCallId: `call-${at}`,
    fate: fates[at % fates.length] as Fate,
    /** When it is made: while something dies that forgets, many come right before that. */
    afterMs: killOther === undefined ? 0 : (random() * overMs) / 2,
  }));
  const decide = async (run: Run, operator: string, verdict: "approve" | "reject") => {
    const decision = signDecision(privateKey, run, { verdict, operator });
    const { caller, toolCallId } = run;
    const command = { kind: "run.decide", service, operator, body: { caller, toolCallId, decision } };
    await commander.send(command, { instances: 1, timeoutMs: 1_000 });
  };
  /** Decides as often as the call waits: who has forgotten a decision asks for it again. */
  const settle = async (call: (typeof calls)[number]) => {
    await untilDone(async () => {
      const run = (await runs.read(call))?.run;
      if (run?.state !== RunState.Parked) return true;
      if (call.fate === "approved") await decide(run, "ann", "approve");
      if (call.fate === "rejected") await decide(run, "bob", "reject");
      if (call.fate === "raced") await Promise.all([decide(run, "ann", "approve"), decide(run, "bob", "reject")]);
      return call.fate === "undecided" ? true : undefined;
    });
  };

  const isDone = new AbortController();
  let steps = 0;
  const parkAll = () =>
    Promise.all(
      [...Map.groupBy(calls, ({ caller }) => caller)].map(([agent, own]) =>
        park(bus, scene, { agent, calls: own }, () => steps++),
      ),
    );
  if (killOther === undefined) await parkAll();
  const killing = killThem([one, two], { random, killAfterMs, killOther }, () => steps, isDone.signal);
  if (killOther !== undefined) await parkAll();
  void sleep(overMs).then(() => isDone.abort()); // not with the last decision, which a slow machine may never come to
  await Promise.all(
    calls.map(async (call) =>
      sleep(random() * overMs)
        .then(() => settle(call))
        .then(() => steps++),
    ),
  );
  const otherDeaths = await killing;
  const until = performance.now() + DRAIN_MS;
  for (let open = calls.length; open > 0 && performance.now() < until; await sleep(500)) {
    await Promise.all(calls.map(settle)); // also those whose decision was forgotten at last
    open = (await untilDone(() => runs.open(service, calls.length))).filter(
      ({ toolCallId }) => calls.find((call) => call.toolCallId === toolCallId)?.fate !== "undecided",
    ).length;
  }

  const effects = await scene.ledger.count("effect");
  const ends: Record<string, number> = {};
  const faults: string[] = [];
  let lost = 0;
  for (const call of calls) {
    const { run } = await untilDone(async () => ({ run: (await runs.read(call))?.run }));
    if (run === undefined) lost++;
    const end = run?.end?.code ?? run?.state ?? "lost";
    ends[`${call.fate} ${end}`] = (ends[`${call.fate} ${end}`] ?? 0) + 1;
    const fault = faultOf(call.fate, run, { end, effects: effects.get(call.toolCallId) ?? 0 });
    if (fault !== undefined) faults.push(`${call.toolCallId}, ${call.fate}: ${fault}`);
  }
  return { calls: calls.length, deaths: one.deaths + two.deaths + otherDeaths, ends, lost, faults };
}

/** Makes the calls of one agent, and resolves once all of them wait. */
async function park(
  bus: Bus,
  scene: Scene,
  {
    agent,
    calls,
  }: { readonly agent: string; readonly calls: readonly { readonly toolCallId: string; readonly afterMs: number }[] },
  onParked: () => void,
): Promise<void> {
  await using made = await createToolCaller(bus, { agent });
  await made.discovered();
  const options = { keep: Keep.Detached, timeoutMs: 2_000 };
  await Promise.all(
    calls.map(async ({ toolCallId, afterMs }) => {
      await sleep(afterMs);
      // A caller that is not told, since something died, sends the same call again.
      await untilDone(async () => {
        const call = made.call(scene.tool("effect"), { id: toolCallId }, { ...options, toolCallId });
        const error = await call.catch((thrown: unknown) => thrown);
        return error instanceof ToolError && ["pending", "outcome_unknown"].includes(error.code) ? true : undefined;
      });
      onParked();
    }),
  );
}

function faultOf(
  fate: Fate,
  run: Run | undefined,
  { end, effects }: { readonly end: string; readonly effects: number },
): string | undefined {
  if (effects > 1) return `it ran ${effects} times`;
  if (end === "ok" && effects === 0) return "it ended well, and did not run";
  const mayHaveRun = end === "ok" || end === "outcome_unknown";
  if (!mayHaveRun && (effects > 0 || run?.hasStarted === true)) return `it ended in ${end}, and ran`;
  if (end !== "lost" && !codes[fate].includes(end)) return `it ended in ${end}`;
  return undefined;
}

/** Asks until there is an answer, while what it asks dies and comes back. */
async function untilDone<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (const until = performance.now() + DRAIN_MS; performance.now() < until; await sleep(100)) {
    const answer = await ask().catch(() => undefined);
    if (answer !== undefined) return answer;
  }
  throw new Error(`There was no answer within ${DRAIN_MS / 1_000} s`);
}

/** Kills one of them now and again, until the signal, each once a call has come further. @returns how often something else died */
async function killThem(
  services: readonly KeptService[],
  { random, killAfterMs, killOther }: Pick<DecidedCallsOptions, "random" | "killAfterMs" | "killOther">,
  steps: () => number,
  signal: AbortSignal,
): Promise<number> {
  let others = 0;
  for (;;) {
    const before = steps();
    await sleep(killAfterMs());
    while (steps() === before && !signal.aborted) await sleep(100); // else a slow machine would only start them
    if (signal.aborted) return others;
    if (killOther !== undefined && random() < 0.5) {
      await killOther();
      others++;
    } else services[random() < 0.5 ? 0 : 1]?.kill();
  }
}
