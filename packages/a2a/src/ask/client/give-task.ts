import type { AnnouncedAgent } from "../agents/known-agent.ts";
import type { AgentRequest, RunTaskOptions, TaskEnd } from "./run-task.ts";

export interface GiveTaskOptions extends Omit<RunTaskOptions, "agent"> {
  /** How long the result is waited for, in milliseconds. */
  readonly timeoutMs: number;
  /** How many calls, each made by a tool, led to the task. */
  readonly depth: number;
  readonly hasReadUntrusted: boolean;
}

/** The way over the bus to agents that have announced themselves there. */
export interface TaskGiver {
  /** Gives an agent a task, and waits for its end. @throws {ToolError} */
  give(agent: AnnouncedAgent, request: AgentRequest, options: GiveTaskOptions): Promise<TaskEnd>;
}
