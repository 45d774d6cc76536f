import { AgentCard } from "@a2a-js/sdk";
import { type Client, ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
import type { ReadyAgent } from "../agents/agent-pool.ts";
import type { KnownAgent } from "../agents/known-agent.ts";
import { type AgentFetchParts, agentFetch } from "./agent-fetch.ts";

/** A client of the SDK for an agent, by the first of its interfaces that can be used. It connects to nothing yet. */
export async function connectAgent(
  { agent, card }: Pick<ReadyAgent<KnownAgent>, "agent" | "card">,
  parts: AgentFetchParts,
): Promise<Client> {
  const options = { fetchImpl: agentFetch(agent, parts), legacyCompat: { enabled: true } };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)],
    // An agent that does not stream says the task's id at once, so that the task can be cancelled.
    clientConfig: { polling: true },
  });
  const client = (streaming: boolean): Promise<Client> =>
    factory.createFromAgentCard({
      ...AgentCard.fromJSON({ name: card.name, capabilities: { streaming } }),
      supportedInterfaces: [...card.interfaces],
    });
  const chosen = await client(card.isStreaming);
  const { protocolName, protocolVersion } = chosen.transport;
  // SDK 1.3.0 forgets there which pieces of a result belong behind others.
  const losesPieces = protocolName.toUpperCase() === "HTTP+JSON" && protocolVersion.startsWith("0.");
  return card.isStreaming && losesPieces ? await client(false) : chosen;
}
