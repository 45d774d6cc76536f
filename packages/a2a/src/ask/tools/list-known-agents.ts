import { definedBy, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { AgentList } from "../agents/agent-pool.ts";
import { lastSeen } from "./last-seen.ts";

const MAX_DESCRIPTION = 500;

/** `list_known_agents`: those that can be called, with their skills. */
export function listKnownAgents(agents: AgentList): Tool {
  return defineTool(tools.listKnownAgents, async ({ skill }) => {
    const wanted = skill?.toLowerCase() ?? "";
    const listed = agents.all.flatMap(({ name, card, readAt, trust }) => {
      if (card === undefined) return [];
      const fits = card.skills.some(({ id, name: title, tags }) =>
        [id, title, ...tags].some((text) => text.toLowerCase().includes(wanted)),
      );
      if (wanted !== "" && !fits) return [];
      const skills = card.skills.map(({ id, description, tags, examples }) => ({
        id,
        description: description.slice(0, MAX_DESCRIPTION),
        tags: [...tags],
        examples: examples.map((example) => example.slice(0, MAX_DESCRIPTION)),
      }));
      return [
        {
          agentName: name,
          description: card.description.slice(0, MAX_DESCRIPTION),
          lastSeen: lastSeen(readAt),
          isApproved: trust.isApproved === true,
          skills,
        },
      ];
    });
    if (listed.length === 0)
      return {
        content: wanted === "" ? "No agents can be called now." : "No agents have such a skill.",
        structured: { agents: listed },
      };
    return {
      content: JSON.stringify(listed, ["agentName", "description", "skills", "id"]),
      structured: { agents: listed },
      trust: definedBy(
        "cards of agents",
        listed.every(({ isApproved }) => isApproved),
      ),
    };
  });
}
