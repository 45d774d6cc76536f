/** Tools of agents are for people and programs, not for agents: a turn that called one on the bus would wait for itself. */
const PREFIX = "agent__";

/** The name of the tool that calls an agent. */
export const childToolOf = (agent: string): string => `${PREFIX}${agent}`;

export const isChildTool = (toolName: string): boolean => toolName.startsWith(PREFIX);
