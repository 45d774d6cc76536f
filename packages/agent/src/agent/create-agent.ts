import { type Bus, type Logger, silentLogger } from "@rockbot/bus";
import type { Model } from "@rockbot/llm";
import { createWorkingMemory, type WorkingMemory } from "@rockbot/memory";
import type { PolicyHolder, Readers, ServiceFacet } from "@rockbot/policy";
import type { AuditLog } from "@rockbot/records/audit";
import { createToolCaller, type ToolCaller } from "@rockbot/tools";
import type { Spending } from "../budget/spending.ts";
import type { AgentParts, AgentPlugin } from "../plugins/agent-plugin.ts";
import { workingMemory } from "../plugins/working-memory.ts";
import { createMemoryTurnStore } from "../store/memory/memory-turn-store.ts";
import type { TurnStore } from "../store/turn-store.ts";
import type { Agent } from "../words/agent.ts";
import type { DefinitionReader } from "../words/agent-definition.ts";
import type { AwaitEnd } from "../words/awaited-call.ts";
import { type AgentLimits, limitsOf } from "./agent-limits.ts";
import { RunningAgent } from "./running-agent.ts";

/** The parts and bounds of an agent. */
// Many because: an agent is put together here alone, and all but two have a default.
export interface AgentOptions {
  readonly bus: Bus;
  readonly model: Model;
  /** The name of the agent that calls; its model reads it. @default "agent" */
  readonly name?: string | undefined;
  /** Further instructions for the model. */
  readonly instructions?: string | undefined;
  readonly policy?: PolicyHolder | undefined;
  /**
   * Where calls of agents and handing over are written, which no service sees; it stays its maker's.
   * @default nowhere
   */
  readonly audit?: Pick<AuditLog, "write"> | undefined;
  /** The definitions that its callers have. @default none: there is the plain agent alone */
  readonly definitions?: DefinitionReader | undefined;
  /** The models that definitions may name. A definition that names another has the agent's. @default none */
  readonly models?: ((name: string) => Model | undefined) | undefined;
  /** Its calling side, which stays its maker's. @default one of its own, of its name */
  readonly caller?: ToolCaller | undefined;
  /** Where sessions and turns are kept; it stays its maker's. @default in this process */
  readonly store?: TurnStore | undefined;
  /** The working memory of its sessions, where large results go; it stays its maker's. @default in this process */
  readonly memory?: WorkingMemory | undefined;
  readonly limits?: Partial<AgentLimits> | undefined;
  /** What a turn may cost, with all agents that it calls, in the currency of the models' prices. @default unlimited */
  readonly maxCost?: number | undefined;
  /** What callers may spend. @default all that they like */
  readonly spending?: Spending | undefined;
  /**
   * Sees to it that a turn begins once a call has ended which waits for a person, however long. Resolves when nothing
   * that ends meanwhile changes that; a call for which it rejects is withdrawn.
   * @default a call waits no longer than its turn
   */
  readonly awaitEnd?: AwaitEnd | undefined;
  readonly log?: Logger | undefined;
}

/** An agent before its start. */
export interface AgentBuilder {
  /** Adds a subsystem. They start in this order. */
  use(plugin: AgentPlugin): AgentBuilder;
  /**
   * Resolves once the agent knows the tools that are served, and takes turns.
   * @throws {TypeError} if it was given two working memories
   */
  start(): Promise<Agent>;
}

/** Calls that an agent of its own calling side has out at once: those of many sessions. */
const MAX_CALLS_IN_FLIGHT = 4_096;

/**
 * Describes an agent: a model, and the tools that are served on a bus. Nothing happens before its start.
 * @throws {RangeError} if a limit makes no sense
 */
export function createAgent(options: AgentOptions): AgentBuilder {
  const limits = limitsOf(options.limits);
  const plugins: AgentPlugin[] = [];
  const builder: AgentBuilder = {
    use(plugin) {
      plugins.push(plugin);
      return builder;
    },
    start: () => startAgent(options, limits, plugins),
  };
  return builder;
}

async function startAgent(options: AgentOptions, limits: AgentLimits, plugins: readonly AgentPlugin[]): Promise<Agent> {
  const {
    bus,
    model,
    models,
    definitions,
    name = "agent",
    instructions,
    policy,
    audit,
    maxCost,
    spending,
    awaitEnd,
    log = silentLogger,
  } = options;
  await using started = new AsyncDisposableStack();
  const store = options.store ?? started.use(createMemoryTurnStore());
  const caller =
    options.caller ??
    started.use(await createToolCaller(bus, { agent: name, policy, maxCallsInFlight: MAX_CALLS_IN_FLIGHT, log }));
  const given = plugins.filter((plugin) => "memory" in plugin);
  const memories = new Set(
    [options.memory, ...given.map((plugin) => plugin.memory)].filter((each) => each !== undefined),
  );
  if (given.length > 1 || memories.size > 1)
    throw new TypeError("Cannot start the agent: it has one working memory, and was given several. Leave one out.");
  const memory = [...memories][0] ?? started.use(createWorkingMemory());
  const running = Promise.withResolvers<Agent>();
  running.promise.catch(() => {}); // not each plugin waits for it
  const parts: AgentParts[] = [];
  // Each policy has the readers of all facets. The agent names its own, and services that are its plugins theirs.
  const whole = policy as PolicyHolder<Readers<ServiceFacet>> | undefined;
  try {
    for (const plugin of [...(given.length === 0 ? [workingMemory()] : []), ...plugins]) {
      const part = await plugin.start({ name, bus, caller, memory, agent: running.promise, policy: whole, log });
      for (const each of [part, ...(part.also ?? [])]) {
        parts.push(each);
        for (const [guide, tool] of each.guides ?? []) caller.addGuide(guide, tool);
        started.defer(async () => each[Symbol.asyncDispose]?.());
      }
    }
    await caller.discovered();
  } catch (error) {
    running.reject(error); // before the parts end, which may wait for it
    throw error;
  }
  const agent = new RunningAgent({
    name,
    bus,
    model,
    models,
    definitions,
    policy,
    audit,
    instructions,
    caller,
    store,
    memory,
    limits,
    maxCost,
    spending,
    awaitEnd,
    parts,
    log,
    resources: started.move(),
  });
  running.resolve(agent);
  return agent;
}
