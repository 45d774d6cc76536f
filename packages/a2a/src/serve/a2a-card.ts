import { AgentCard } from "@a2a-js/sdk";
import { version } from "@rockbot/base/version";

/** All of A2A is below it, but for the card at the root. */
export const A2A_PATH = "/a2a";

/** Where an agent is reached. */
export interface A2aPaths {
  readonly rpc: string;
  readonly http: string;
  /** Clients look for the card at the root of the address that they are given, or below it. */
  readonly cards: readonly string[];
}

/** @param agent its name; undefined for the plain agent, whose card is also at the root */
export function a2aPaths(agent: string | undefined): A2aPaths {
  const path = agent === undefined ? `${A2A_PATH}/agent` : `${A2A_PATH}/agents/${agent}`;
  const card = "/.well-known/agent-card.json";
  return {
    rpc: `${path}/rpc`,
    http: `${path}/http`,
    cards: [...(agent === undefined ? [card] : []), `${path}${card}`],
  };
}

export interface A2aCardOptions {
  /** Where clients reach the gateway. */
  readonly url: string;
  /** True if requests need a token. */
  readonly needsToken: boolean;
  /** True if news of tasks goes to addresses that clients name. */
  readonly pushes: boolean;
  /** As `a2aPaths` has it. */
  readonly agent: string | undefined;
}

/** The card of an agent behind this gateway. Strangers read cards, so none holds the words of a definition. */
export function a2aCard({ url, needsToken, pushes, agent }: A2aCardOptions): AgentCard {
  const { rpc, http } = a2aPaths(agent);
  const interfaces = ["1.0", "0.3"].flatMap((protocolVersion) => [
    { url: `${url}${rpc}`, protocolBinding: "JSONRPC", protocolVersion },
    { url: `${url}${http}`, protocolBinding: "HTTP+JSON", protocolVersion },
  ]);
  const card = AgentCard.fromJSON({
    name: agent ?? "RockBot",
    description: "Answers messages with a model and the tools that its caller may use.",
    version,
    supportedInterfaces: interfaces,
    capabilities: { streaming: true, pushNotifications: pushes, extendedAgentCard: false },
    defaultInputModes: ["text/plain", "application/json"],
    defaultOutputModes: ["text/plain"],
    skills: [
      {
        id: "chat",
        name: "Chat",
        description: "Answer a message, or do what it asks for, with the tools that the caller may use.",
        tags: ["chat", "tools"],
      },
    ],
    ...(needsToken
      ? {
          securitySchemes: { token: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
          securityRequirements: [{ schemes: { token: { list: [] } } }],
        }
      : {}),
  });
  // The SDK's handler writes its own form of the card, in which security schemes are not those of A2A.
  return Object.defineProperty(card, "toJSON", { value: () => AgentCard.toJSON(card), enumerable: false });
}
