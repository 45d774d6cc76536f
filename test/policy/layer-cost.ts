import { silentLogger } from "@rockbot/bus";
import { newId, type ToolDefinition, type Validator } from "@rockbot/contracts";
import { createPolicy, type Policy, readPolicy } from "@rockbot/policy";
import { createMemoryClaimStore } from "@rockbot/records/claims";
import { createMemoryRateStore, type RateStore } from "@rockbot/records/rates";
import {
  CallClaims,
  defineTool,
  ResultCache,
  servingLayers,
  type ToolContext,
  type ToolExecutor,
  withLocalLayers,
} from "@rockbot/tools";

const CALLS = 5_000;

/**
 * What a call through the layers costs in each case, in microseconds of processor time: the median over rounds in which
 * all cases have their turn.
 */
export async function measureLayers({
  rounds,
  sharedRates,
}: {
  readonly rounds: number;
  readonly sharedRates: RateStore;
}): Promise<ReadonlyMap<string, number>> {
  const tool = echo({ cacheSeconds: 0 });
  const local = createMemoryRateStore();
  const rateRule = "rate: { calls: 1000000, perSeconds: 1 }";
  const all = `${rateRule}, concurrency: 64, timeoutMs: 60000, arguments: { properties: { text: { type: string, pattern: "^[a-z ]+$" } } }`;
  const limits = "limits: { callsPerSecond: 100000, bytesPerDay: 1000000000000000 }";
  const queues = "queues: { one: { tools: [echo], concurrency: 64 } }";
  const cases: Record<string, Case> = {
    "without: record, validate, deadline": { executor: withLocalLayers(tool), policy: undefined, isSame: true },
    "no policy file": await layered(tool, "", local),
    "a rate": await layered(tool, `everyone: { allow: ['*'], rules: [{ tools: ["*"], ${rateRule} }] }`, local),
    "everything: three rates, bytes, arguments, two queues": await layered(
      tool,
      `everyone: { allow: ['*'], ${limits}, rules: [{ tools: ["*"], ${all} }] }\n${queues}`,
      local,
    ),
    "everything, for a tool whose results are kept, another call each time": {
      ...(await layered(
        echo({ cacheSeconds: 60 }),
        `everyone: { allow: ['*'], ${limits}, rules: [{ tools: ["*"], ${all} }] }\n${queues}`,
        local,
      )),
      isSame: false,
    },
    "everything, answered from what is kept": await layered(
      echo({ cacheSeconds: 3_600 }),
      `everyone: { allow: ['*'], ${limits}, rules: [{ tools: ["*"], ${all} }] }\n${queues}`,
      local,
    ),
    "a rate in Redis, 64 calls at once": {
      ...(await layered(tool, `everyone: { allow: ['*'], rules: [{ tools: ["*"], ${rateRule} }] }`, sharedRates)),
      atOnce: 64,
    },
  };
  const samples = new Map<string, number[]>(Object.keys(cases).map((name) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    for (const [name, one] of Object.entries(cases)) {
      const us = await measure(one);
      if (round >= 0) samples.get(name)?.push(us); // the first is to warm up
    }
  }
  return new Map(
    [...samples].map(([name, figures]) => [
      name,
      figures.sort((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN,
    ]),
  );
}

/** What it costs to ask a policy what it has been asked before, in microseconds. */
export async function measureDecision(): Promise<number> {
  const policy = createPolicy(await readPolicy("everyone: { allow: ['*'] }", "measured"));
  const callers = Array.from({ length: 100 }, (_, i) => `caller-${i}`);
  const decide = () => {
    for (const caller of callers) policy.decide({ caller, tool: "echo" });
  };
  for (let i = 0; i < 1_000; i++) decide();
  const before = process.cpuUsage();
  for (let i = 0; i < 10_000; i++) decide();
  return process.cpuUsage(before).user / (10_000 * callers.length);
}

interface Case {
  readonly executor: ToolExecutor;
  readonly policy: Policy | undefined;
  /** True if all calls have the same arguments. */
  readonly isSame: boolean;
  readonly atOnce?: number;
}

async function layered(tool: ReturnType<typeof echo>, text: string, rates: RateStore): Promise<Case> {
  const wrap = servingLayers({
    concurrency: 64,
    waiting: 64,
    claims: new CallClaims(createMemoryClaimStore(), { seesAll: true }),
    rates,
    results: new ResultCache(),
  });
  return { executor: wrap(tool), policy: createPolicy(await readPolicy(text, "measured")), isSame: true };
}

async function measure({ executor, policy, isSame, atOnce = 1 }: Case): Promise<number> {
  const { signal } = new AbortController();
  const progress = () => {};
  let count = 0;
  const call = () => {
    const context: ToolContext = {
      signal,
      deadline: performance.now() + 60_000,
      caller: "caller",
      progress,
      log: silentLogger,
      decision: policy?.decide({ caller: "caller", tool: "echo" }),
    };
    const text = isSame
      ? "the same"
      : `another ${(count++).toString(36).replaceAll(/\d/g, "z")} ${newId().replaceAll(/\d/g, "x")}`;
    return executor.execute(
      { toolCallId: newId(), toolName: "echo", arguments: JSON.stringify({ text }), sessionId: null },
      context,
    );
  };
  const before = process.cpuUsage();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let i = 0; i < CALLS / atOnce; i++) await call();
    }),
  );
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

function echo({ cacheSeconds }: { readonly cacheSeconds: number }) {
  const definition: ToolDefinition<{ readonly text: string }> = {
    name: "echo",
    description: "Gives back the text.",
    inputSchema: { type: "object" },
    readOnly: true,
    idempotent: true,
    cacheSeconds,
    validateInput: ((value: unknown) => typeof (value as { text?: unknown }).text === "string") as Validator<{
      readonly text: string;
    }>,
  };
  return defineTool(definition, async ({ text }) => text);
}
