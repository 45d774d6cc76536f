import { type Bus, createMemoryBus } from "@rockbot/bus";
import type { WorkingMemory } from "@rockbot/memory";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import type { ClaimStore } from "@rockbot/records/claims";
import { temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import type { TrustStore } from "@rockbot/trust";
import { startA2a } from "./a2a.ts";
import { type A2AConfig, configSchema } from "./generated/config.ts";

export interface TestA2aOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The policy as YAML. */
  readonly policy?: string;
  readonly config?: Partial<A2AConfig>;
  readonly trustStore?: TrustStore;
  readonly taskOwners?: WorkingMemory;
  /** The claims that another instance shares, like the bus. */
  readonly claims?: ClaimStore;
  readonly bus?: Bus;
  readonly settleMs?: number;
  readonly agent?: string;
  /** The ports of local servers that may be reached. */
  readonly ports?: readonly number[];
}

/** Starts the whole service in memory for tests, with a file of these agents, and a caller. */
export async function startTestA2a(
  agents: object,
  {
    env = {},
    policy: yaml,
    config: settings = {},
    trustStore,
    taskOwners,
    claims,
    bus: given,
    settleMs,
    agent = "tester",
    ports = [],
  }: TestA2aOptions = {},
) {
  await using started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  const a2aAgentsFile = folder.write("well-known-agents.json", { agents });
  const allowAddresses = ports.map((port) => `127.0.0.1:${port}`);
  const config = loadConfig(configSchema, {
    env: {},
    overrides: { a2aAgentsFile, allowAddresses, shutdownGraceMs: 5_000, ...settings },
  });
  const policy = yaml === undefined ? undefined : holdPolicy(createPolicy(await readPolicy(yaml, "of the test")));
  const bus = given ?? started.use(createMemoryBus());
  const parts = { policy, trustStore, taskOwners, claims, settleMs };
  const a2a = started.use(await startA2a(bus, config, { service: "a2a", topic: "tool.invoke.a2a", env, ...parts }));
  const caller = started.use(await createToolCaller(bus, { agent, policy }));
  await caller.discovered();
  const open = started.move();
  return { a2a, bus, caller, folder, policy, [Symbol.asyncDispose]: () => open.disposeAsync() };
}
