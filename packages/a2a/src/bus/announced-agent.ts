import { type AgentCardMessage, decodeMessage } from "@rockbot/contracts";
import { type AgentCard, line, skillsOf, words } from "../ask/agents/agent-card.ts";
import type { AnnouncedAgent } from "../ask/agents/known-agent.ts";

/** What is known of a card. @throws {Error} that says in words why it cannot be used */
export function readAnnouncedCard({ text }: Pick<AnnouncedAgent, "text">): AgentCard {
  const decoded = decodeMessage("AgentCard", Buffer.from(text));
  if (!decoded.ok) throw new Error(decoded.fault.message);
  const { agentName, description, skills } = decoded.value;
  return {
    name: line(agentName),
    description: words(description ?? ""),
    skills: skillsOf(skills ?? []),
    interfaces: [],
    isStreaming: false,
  };
}

/** The text by which a card is compared with the one before: what a model reads of it. */
export const cardText = ({ agentName, description, skills }: AgentCardMessage): string =>
  JSON.stringify({ agentName, description, skills });
