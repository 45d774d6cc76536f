import type { ContentTrust } from "@rockbot/contracts";

/** One thing that a model can turn to: an MCP server, an agent, the tools of a service, a guide, or a saved skill. */
export interface ServiceEntry {
  /** What names it to the tool that tells more of it. */
  readonly id: string;
  readonly type: "mcp" | "a2a" | "tool" | "guide" | "skill";
  readonly summary: string;
  readonly tools: readonly ServiceTool[];
  /** The skills of an agent. */
  readonly skills?: readonly ServiceTool[] | undefined;
  /** Whose words summary, names and descriptions are. @default our own */
  readonly trust?: ContentTrust | undefined;
}

/** A tool of a service, or a skill of an agent. */
export interface ServiceTool {
  readonly name: string;
  readonly description: string;
  /** The names of its parameters, divided by blanks. */
  readonly parameters?: string | undefined;
}
