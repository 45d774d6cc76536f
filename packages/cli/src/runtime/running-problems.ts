import type { Further } from "@rockbot/gateway";
import type { Finding } from "@rockbot/process";
import { examineRunning, firstReason, type RunningParts } from "./examine-running.ts";

type Problem = Further["problems"][number];

/** For the console: what `rockbot doctor` finds in this process, as problems, and how its MCP servers stand. */
export async function runningProblems(parts: RunningParts): Promise<Further> {
  const found = await examineRunning(parts);
  return {
    problems: found.filter(({ state }) => state !== "ok").map(problemOf),
    servers: parts.servers?.map(({ name, state, tools, held, failures, ...server }) => ({
      name,
      state,
      tools,
      held,
      failures,
      ...(failures === 0 ? {} : { reason: firstReason(server) }),
    })),
  };
}

function problemOf({ what, state, message }: Finding): Problem {
  if (state === "off")
    return {
      level: "warning",
      what: `${what}: ${message}`,
      next: 'Read the definitions and decide, in the console or by "rockbot mcp approve"',
      page: "servers",
    };
  return {
    level: "error",
    what: `${what}: ${message}`,
    next: 'See what it says in full: "rockbot doctor", and "rockbot mcp ls" for MCP servers',
  };
}
