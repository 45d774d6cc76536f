import { nearestName, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { AgentDefinition } from "../words/agent-definition.ts";

export interface HandOffToolOptions {
  /** The definition's destinations that exist. */
  readonly reachable: readonly AgentDefinition[];
  /** One of these as it is now. @throws {ToolError} if the caller does not see it any more */
  readonly current: (definition: AgentDefinition) => Promise<AgentDefinition>;
  /** True if the policy lets the caller go on with an agent. */
  readonly mayCall: (agent: string) => boolean;
}

/** `router__handoff-to`: names the agent that goes on. The turn does the rest once it has the result. */
export function handOffTool({ reachable, current, mayCall }: HandOffToolOptions): Tool {
  const destinations = reachable.map(({ name }) => name);
  const { inputSchema } = tools.routerHandoffTo;
  const { properties } = inputSchema as { readonly properties: Readonly<Record<string, object>> };
  const shown = {
    ...inputSchema,
    properties: { ...properties, agent: { ...properties["agent"], enum: destinations } },
  };
  return defineTool({ ...tools.routerHandoffTo, inputSchema: shown }, async ({ agent }) => {
    const next = reachable.find(({ name }) => name === agent);
    if (next === undefined) {
      const nearest = nearestName(agent, [...destinations]);
      throw new ToolError(
        ToolErrorCode.InvalidArguments,
        `The conversation was not handed over: "${agent}" is no destination of this agent${nearest === undefined ? "." : `; did you mean "${nearest}"?`} It has: ${destinations.join(", ")}.`,
      );
    }
    if (!mayCall(agent)) {
      const others = destinations.filter((name) => mayCall(name)).join(", ") || "none";
      throw new ToolError(
        ToolErrorCode.Denied,
        `The conversation was not handed over: the policy does not let its caller call "${agent}". It lets it call: ${others}.`,
      );
    }
    await current(next);
    return { content: `"${agent}" goes on with the conversation.`, structured: { agent } };
  });
}
