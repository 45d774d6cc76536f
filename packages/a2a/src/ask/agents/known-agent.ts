/** Where a credential stands in a request. Its value is read when it is used. */
export interface AgentCredential {
  readonly type: "bearer" | "basic" | "api_key";
  /** The variable with its value. */
  readonly env: string;
  /** The header's name in small letters. */
  readonly header: string;
}

/** An agent as the operator's file names it. */
export interface KnownAgent {
  /** What models call it. */
  readonly name: string;
  readonly cardUrl: string;
  /** Where it may be called, the card's own origin included. The credential goes to these only. */
  readonly origins: ReadonlySet<string>;
  readonly credential: AgentCredential | undefined;
}

/** An agent that has announced itself on the bus. */
export interface AnnouncedAgent {
  /** What models call it, and the word of its topics. */
  readonly name: string;
  /** Who has announced it, as the bus knows it: nobody else answers for it. */
  readonly sender: string;
  /** Its card as it was announced, as text. */
  readonly text: string;
}

/** The agent of that name. Case does not matter. */
export const agentNamed = <Agent extends { readonly name: string }>(
  agents: readonly Agent[],
  name: string,
): Agent | undefined => agents.find((agent) => agent.name.toLowerCase() === name.toLowerCase());

/** True if the agent takes its tasks over the bus. */
export const isAnnounced = (agent: KnownAgent | AnnouncedAgent): agent is AnnouncedAgent => "sender" in agent;
