import { allToolNames } from "@rockbot/contracts";

/**
 * Tools of agents are for people and programs, not for agents: a turn that called one on the bus would wait for itself.
 */
const PREFIX = "agent__";

/** The name of the tool that calls an agent. */
export const childToolOf = (agent: string): string => `${PREFIX}${agent}`;

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** True if the tool that calls an agent of this name would be one of RockBot's own. */
export const isTaken = (agent: string): boolean => allToolNames.includes(childToolOf(agent));

/** True if a tool for the agent can have its name. */
export const canBeCalled = (agent: string): boolean => TOOL_NAME.test(childToolOf(agent)) && !isTaken(agent);

export const isChildTool = (toolName: string): boolean => toolName.startsWith(PREFIX);
