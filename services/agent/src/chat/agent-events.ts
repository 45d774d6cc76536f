import type { Agent } from "@rockbot/agent";
import { tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";

const MAX_EVENTS = 500;

/** `agent__events`: what has happened in a session of the caller. */
export function agentEvents(agent: Pick<Agent, "events">): Tool {
  return defineTool(tools.agentEvents, async ({ session_id, after = 0, limit = MAX_EVENTS }, { caller }) => {
    const { events, last } = await agent.events(caller, session_id, after, limit);
    const structured = { events: [...events], last };
    return { content: JSON.stringify(structured), structured };
  });
}
