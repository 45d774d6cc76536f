// RockBot's own services in your process, for the plugins of `rockbot/agent`. Each loads its libraries when it starts.
import { type Agent, type AgentParts, type AgentPlugin, type OwnService, toolService } from "@rockbot/agent";
import { agentChat } from "@rockbot/agent-service/chat";
import { Helping } from "@rockbot/agent-service/helpers";
import { type ConfigSchema, loadConfig } from "@rockbot/process/config";
import { serveTools } from "@rockbot/tools";

/** Settings by name, as a service's configuration file has them. Settings left out have their defaults. */
export type ServiceSettings = Readonly<Record<string, unknown>>;
/** Hears of the answer of a turn that nobody waits for. */
export type OnAnswer = (caller: string, sessionId: string, turnId: string, text: string) => Promise<void>;

const TURN_MS = 600_000;
const read = <C>(schema: ConfigSchema<C>, settings: ServiceSettings): C =>
  loadConfig(schema, { env: {}, overrides: settings as Partial<C> });

/** The service for `webTools`. With `braveApiKey` or `searxngUrl` there is `web_search`. */
export function webToolsHere(settings: ServiceSettings = {}): OwnService {
  return async (bus, parts) => {
    const { configSchema, startWebTools } = await import("@rockbot/web-tools");
    return startWebTools(bus, read(configSchema, settings), { service: "web-tools", topic: "tool.invoke", ...parts });
  };
}

/** The service for `localScriptRunner`. @param path where programs are found: the variable PATH */
export function scriptsHere(path: string | undefined, settings: ServiceSettings = {}): OwnService {
  return async (bus, parts) => {
    const { configSchema, startWithRunner } = await import("@rockbot/scripts-manager");
    return startWithRunner(bus, read(configSchema, settings), {
      service: "scripts-manager",
      topic: "script.invoke",
      env: { PATH: path },
      ...parts,
    });
  };
}

/** The service for `scheduling`. The agent takes a turn for each task that is due. */
export function schedulerHere(settings: ServiceSettings = {}, onUnasked: OnAnswer = async () => {}): OwnService {
  return async (bus, { agent, ...parts }) => {
    const { configSchema, startScheduler } = await import("@rockbot/scheduler");
    const chat = agentChat(later(agent), {
      modelNames: [],
      turnTimeoutMs: TURN_MS,
      definitions: undefined,
      policy: parts.policy,
      onUnasked,
    });
    await using started = new AsyncDisposableStack();
    started.use(await serveTools(bus, { tools: [chat] }, { service: "agent-turns", ...parts }));
    started.use(
      await startScheduler(bus, read(configSchema, settings), {
        service: "scheduler",
        topic: "tool.invoke.scheduler",
        ...parts,
      }),
    );
    return started.move();
  };
}

/** Helpers that a session starts, and the whiteboard that it shares with them. */
export const subagents = (onUnasked: OnAnswer = async () => {}): AgentPlugin => ({
  name: "subagents",
  async start(host) {
    const helping = new Helping(host.bus, { ...host, turnTimeoutMs: TURN_MS });
    const served = toolService("agent-helpers", { tools: helping.tools(later(host.agent), onUnasked) });
    await using started = new AsyncDisposableStack();
    const also: AgentParts[] = [];
    for (const plugin of [served, ...helping.plugins]) {
      const part = await plugin.start(host);
      also.push(part);
      started.defer(async () => part[Symbol.asyncDispose]?.());
    }
    started.move(); // the agent disposes of them
    return { also };
  },
});

const later = (agent: Promise<Agent>): Pick<Agent, "runTurn" | "isToBlame"> => ({
  runTurn: async (request) => (await agent).runTurn(request),
  isToBlame: async (turn) => (await agent).isToBlame(turn),
});
