import { pause } from "@rockbot/base";
import type { Bus, Logger } from "@rockbot/bus";
import { serveTools, type ToolSet } from "@rockbot/tools";
import type { AgentHost, AgentPlugin } from "./agent-plugin.ts";

/** A service for the agent's own bus: its tools, or the function that starts it. */
export type OwnService =
  | ToolSet
  | ((bus: Bus, parts: { readonly log: Logger } & Pick<AgentHost, "policy" | "agent">) => Promise<AsyncDisposable>);

/** Within this time the agent has heard of a service that it started. */
const HEARD_WITHIN_MS = 2_000;

/**
 * The tools of a service. With `own` the service runs in this process, over the agent's bus. Else it runs elsewhere:
 * its tools are there whenever it is.
 */
export const toolService = (service: string, own?: OwnService): AgentPlugin => ({
  name: service,
  async start({ bus, policy, log, caller, agent }) {
    if (own === undefined) {
      await caller.discovered();
      if (!caller.tools.getTools().some(({ source }) => source === service))
        log.info({ service }, "a service that the agent uses is not there yet");
      return {};
    }
    const running =
      typeof own === "function"
        ? await own(bus, { policy, agent, log })
        : await serveTools(bus, own, { service, policy, log });
    const late = AbortSignal.timeout(HEARD_WITHIN_MS);
    while (!late.aborted && !(await caller.discovered()).services.includes(service)) await pause(10, late); // else a first turn would lack its tools
    return { [Symbol.asyncDispose]: async () => running[Symbol.asyncDispose]() };
  },
});

/** `web_search` and `web_browse`. */
export const webTools = (own?: OwnService): AgentPlugin => toolService("web-tools", own);

/** `schedule_task`, `list_scheduled_tasks` and `cancel_scheduled_task`. */
export const scheduling = (own?: OwnService): AgentPlugin => toolService("scheduler", own);

/** `execute_python_script`, in sandboxes of a service elsewhere. */
export const remoteScriptRunner = (): AgentPlugin => toolService("scripts-manager");

/** `execute_python_script`, by a service that runs in this process. */
export const localScriptRunner = (own: OwnService): AgentPlugin => toolService("scripts-manager", own);
