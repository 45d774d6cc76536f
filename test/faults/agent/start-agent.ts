import { type RunningProcess, startProgram } from "../../services/start-service.ts";
import type { AgentOptions, AgentReport } from "./agent-options.ts";

/** The agent of agent-service.ts as a process of its own. @param nodeArgs options of Node itself */
export const startAgent = (
  options: AgentOptions,
  nodeArgs: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): RunningProcess =>
  startProgram("test/faults/agent/agent-service.ts", { args: [JSON.stringify(options)], nodeArgs, env });

/** What an agent has to say, once it has ended. @throws {Error} with what it has said, if it did not end well */
export async function agentReport(agent: RunningProcess): Promise<AgentReport> {
  const code = await agent.ended;
  const line = agent.stdout().split("\n")[1];
  if (code !== 0 || !line) throw new Error(`An agent ended with ${code}:\n${agent.stdout()}${agent.stderr()}`);
  return JSON.parse(line) as AgentReport;
}
