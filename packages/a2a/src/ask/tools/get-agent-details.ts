import { namesHelp, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import { placeOf } from "../agents/agent-card.ts";
import type { AgentList } from "../agents/agent-pool.ts";
import { agentNamed, isAnnounced } from "../agents/known-agent.ts";
import { lastSeen } from "./last-seen.ts";

/** `get_agent_details`: what is approved of one agent's card. A name that nobody has is no error. */
export function getAgentDetails(agents: AgentList): Tool {
  return defineTool(tools.getAgentDetails, async ({ agent_name: name }) => {
    const { all } = agents;
    const found = agentNamed(all, name);
    if (found === undefined) {
      const help = namesHelp(
        name,
        all.map((each) => each.name),
      );
      return { content: `There is no agent ${JSON.stringify(name)}. ${help}`, structured: { agentName: name } };
    }
    const { agent, card, off, readAt, trust } = found;
    if (card === undefined)
      return { content: off?.message ?? "", structured: { agentName: found.name }, trust: off?.trust };
    const skills = card.skills.map(({ tags, examples, ...skill }) => ({
      ...skill,
      ...(tags.length === 0 ? {} : { tags }),
      ...(examples.length === 0 ? {} : { examples }),
    }));
    const details = {
      agentName: found.name,
      description: card.description,
      ...(isAnnounced(agent) ? {} : { url: placeOf({ agent, card }), hasAuth: agent.credential !== undefined }),
      isWellKnown: !isAnnounced(agent),
      lastSeen: lastSeen(readAt),
      skills,
    };
    const { agentName, description } = details;
    return { content: JSON.stringify({ agentName, description, skills }), structured: details, trust };
  });
}
