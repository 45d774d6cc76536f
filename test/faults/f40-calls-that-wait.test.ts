import { generateKeyPairSync } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { Keep, ToolError } from "@rockbot/contracts";
import { type Run, RunState, signDecision } from "@rockbot/runs";
import { connectRedisRunStore } from "@rockbot/runs/redis";
import { sharedAmqpUrl, sharedRedisUrl } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { createCommander } from "@rockbot/tools/commands";
import { expect, test } from "vitest";
import { seededRandom } from "../broker/seeded-random.ts";
import { type KeptService, keepEffectService } from "./effects/start-effect-service.ts";
import { atScale, record } from "./figures.ts";
import { openScene } from "./scene.ts";

const CALLS_PER_AGENT = 20;
const AGENTS = atScale(4, 50);
const [busUrl, redisUrl] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);

/** What becomes of a call: two operators may decide, and sometimes both do at once. */
const fates = ["approved", "approved", "raced", "rejected", "undecided"] as const;

test("F40: of calls that wait, each that is approved runs at most once, and no other runs, while services are killed", {
  timeout: atScale(120_000, 900_000),
}, async () => {
  await using scene = await openScene(busUrl, { redisUrl });
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const random = seededRandom(40);
  const { service } = scene.service;
  const token = (letter: string) => `tokens: [{ hash: "sha256:${letter.repeat(64)}" }], may: [decide]`;
  const policy = `everyone: { allow: ["*"] }
operators: [{ name: ann, ${token("a")} }, { name: bob, ${token("b")} }]
approve: [{ tools: ["effect_*"], by: [ann, bob] }]`;
  const waiting = { policy, operatorKey: publicKey.export({ type: "spki", format: "pem" }).toString() };
  await using one = await keepEffectService({ ...scene.service, waiting });
  await using two = await keepEffectService({ ...scene.service, waiting });
  const { redis } = scene.service;
  if (redis === undefined) throw new Error("the scene has no Redis");
  await using runs = await connectRedisRunStore(redis.url, { prefix: redis.prefix });
  await using bus = await connectBus(busUrl, { name: "gateway" });
  await using commander = createCommander(bus, { key: privateKey, source: "gateway", policy: undefined });
  await using callers = new AsyncDisposableStack();

  const call = async (agent: number) => {
    const caller = callers.use(await createToolCaller(bus, { agent: `${scene.agent}-${agent}` }));
    await caller.discovered();
    return Promise.all(
      Array.from({ length: CALLS_PER_AGENT }, async (_, each) => {
        const id = `${agent}-${each}`;
        // A caller that is not told, since a service died, sends the same call again.
        for (;;) {
          const error = await caller
            .call(scene.tool("effect"), { id }, { toolCallId: id, keep: Keep.Detached, timeoutMs: 2_000 })
            .catch((thrown: unknown) => thrown);
          if (error instanceof ToolError && error.code === "pending") return;
        }
      }),
    );
  };
  await Promise.all(Array.from({ length: AGENTS }, (_, agent) => call(agent)));
  const parked = await runs.open(service, 10_000);
  expect(parked).toHaveLength(AGENTS * CALLS_PER_AGENT);

  const fateOf = new Map(parked.map((run, at) => [run.runId, fates[at % fates.length]]));
  const decide = async (run: Run, operator: string, verdict: "approve" | "reject") => {
    const decision = signDecision(privateKey, run, { verdict, operator });
    const { caller, toolCallId } = run;
    const command = { kind: "run.decide", service, operator, body: { caller, toolCallId, decision } };
    for (;;) {
      await commander.send(command, { instances: 1, timeoutMs: 1_000 });
      const state = (await runs.read(run))?.run.state;
      if (state !== RunState.Parked) return;
    }
  };
  const isDone = new AbortController();
  const killing = killThem([one, two], random, isDone.signal);
  const deciding = parked.map(async (run) => {
    const fate = fateOf.get(run.runId);
    await sleep(random() * atScale(6_000, 60_000));
    if (fate === "approved") await decide(run, "ann", "approve");
    if (fate === "rejected") await decide(run, "bob", "reject");
    if (fate === "raced") await Promise.all([decide(run, "ann", "approve"), decide(run, "bob", "reject")]);
  });
  await Promise.all(deciding);
  isDone.abort();
  await killing;
  const undecided = parked.filter(({ runId }) => fateOf.get(runId) === "undecided").length;
  await expect.poll(async () => (await runs.open(service, 10_000)).length, { timeout: 60_000 }).toBe(undecided);

  const effects = await scene.ledger.count("effect");
  const ends: Record<string, number> = {};
  for (const run of parked) {
    const fate = fateOf.get(run.runId);
    const code = checkEnd(fate, (await runs.read(run))?.run, effects.get(run.toolCallId) ?? 0);
    ends[`${fate} ${code}`] = (ends[`${fate} ${code}`] ?? 0) + 1;
  }
  expect(one.deaths + two.deaths).toBeGreaterThan(0);
  await record({
    fault: "F40",
    done: `${parked.length} calls that wait for approval, two instances killed ${one.deaths + two.deaths} times meanwhile, decisions that race`,
    figures: { ...ends, "doubled effects": 0, "undecided and run": 0 },
  });
});

/** The codes in which a call may end, by what was decided. */
const codes: Readonly<Record<(typeof fates)[number], readonly string[]>> = {
  approved: ["ok", "outcome_unknown"],
  raced: ["ok", "outcome_unknown", "denied"],
  rejected: ["denied"],
  undecided: [RunState.Parked],
};

/** @returns how the run has ended, or how it stands */
function checkEnd(fate: (typeof fates)[number] | undefined, run: Run | undefined, effects: number): string {
  const code = run?.end?.code ?? run?.state ?? "lost";
  expect(fate === undefined ? [] : codes[fate]).toContain(code);
  expect(effects).toBeLessThanOrEqual(1);
  if (code === "ok") expect(effects).toBe(1);
  if (code === "denied" || code === RunState.Parked) expect([effects, run?.hasStarted]).toEqual([0, false]);
  return code;
}

/** Kills one of the services now and again, until the signal. */
async function killThem(services: readonly KeptService[], random: () => number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(300 + random() * 1_500);
    services[random() < 0.5 ? 0 : 1]?.kill();
  }
}
