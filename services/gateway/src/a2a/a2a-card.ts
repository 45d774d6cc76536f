import { AgentCard } from "@a2a-js/sdk";
import { version } from "@rockbot/base/version";

export const A2A_PATH = "/a2a/agent";
export const RPC_PATH = `${A2A_PATH}/rpc`;
export const HTTP_PATH = `${A2A_PATH}/http`;
/** Clients look for the card at the root of the address that they are given, or below it. */
export const CARD_PATHS = ["/.well-known/agent-card.json", `${A2A_PATH}/.well-known/agent-card.json`] as const;

/**
 * The card of the agent behind this gateway.
 * @param url where clients reach the gateway
 * @param needsToken whether requests show a token
 */
export function a2aCard(url: string, needsToken: boolean): AgentCard {
  const interfaces = ["1.0", "0.3"].flatMap((protocolVersion) => [
    { url: `${url}${RPC_PATH}`, protocolBinding: "JSONRPC", protocolVersion },
    { url: `${url}${HTTP_PATH}`, protocolBinding: "HTTP+JSON", protocolVersion },
  ]);
  const card = AgentCard.fromJSON({
    name: "RockBot",
    description: "Answers messages with a model and the tools that its caller may use.",
    version,
    supportedInterfaces: interfaces,
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
    defaultInputModes: ["text/plain", "application/json"],
    defaultOutputModes: ["text/plain"],
    skills: [
      { id: "chat", name: "Chat", description: "Answer a message, or do what it asks for, with the tools that the caller may use.", tags: ["chat", "tools"] },
    ],
    ...(needsToken
      ? { securitySchemes: { token: { httpAuthSecurityScheme: { scheme: "Bearer" } } }, securityRequirements: [{ schemes: { token: { list: [] } } }] }
      : {}),
  });
  // The SDK's handler writes its own form of the card, in which security schemes are not those of A2A.
  return Object.defineProperty(card, "toJSON", { value: () => AgentCard.toJSON(card), enumerable: false });
}
