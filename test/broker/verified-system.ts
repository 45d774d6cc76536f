import type { Bus } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { createEnvelope, type Envelope, encodeMessage, messages, newId, type ToolDefinition } from "@rockbot/contracts";
import type { OwnVirtualHost } from "@rockbot/testing";
import { defineTool, type ToolSet } from "@rockbot/tools";
import { openRawChannel } from "./raw-channel.ts";
import type { Verified } from "./verified-broker.ts";

/** Two agents, two services of which one is hostile, a delegate, and a peer that knows nothing of verified senders. */
export const POLICY = `
identity: verified
everyone: { allow: ["*"] }
callers:
  researcher: {}
  writer: {}
services:
  echoes: { topic: tool.invoke.echoes, tools: ["echo_*"] }
  thief: { topic: tool.invoke.thief, tools: ["thief_*"] }
delegates: [gateway]
operators: [{ name: ops, tokens: [] }]
legacyPeers: [Old_Agent]
`;

/** A tool that says on whose behalf it ran, once it is let go. It has effects, unless it is said to read only. */
export function whoTool(
  name: string,
  { hold, readOnly = false }: { readonly hold?: () => Promise<void>; readonly readOnly?: boolean } = {},
): ToolSet {
  const definition: ToolDefinition = {
    name,
    description: "Says who called.",
    inputSchema: { type: "object" },
    readOnly,
    idempotent: false,
    validateInput: Object.assign((value: unknown): value is object => typeof value === "object", {
      errors: null,
    }) as ToolDefinition["validateInput"],
  };
  const tool = defineTool(definition, async (_, { caller }) => {
    await hold?.();
    return caller;
  });
  return { tools: [tool], guides: [{ name: "echoes", summary: "Echoes.", document: "# Echoes" }] };
}

/** The bus as a user has it. */
export const connect = (broker: Verified, user: string): Promise<Bus> =>
  connectBus(broker.urlOf(user), { name: user, identity: "verified" });

/** A listener with all rights, which takes what goes to any topic for answers. */
export async function tapAnswers(broker: Pick<OwnVirtualHost, "url">) {
  const raw = await openRawChannel(broker.url);
  const { queue } = await raw.channel.assertQueue("", { exclusive: true });
  for (const key of ["tool.result.#", "script.result.#", "mcp.manage.response.#", "tool.progress.#"])
    await raw.channel.bindQueue(queue, "rockbot", key);
  const topics: string[] = [];
  await raw.channel.consume(queue, (message) => void topics.push(message?.fields.routingKey ?? ""), { noAck: true });
  return { topics, [Symbol.asyncDispose]: () => raw[Symbol.asyncDispose]() };
}

/** A request for a tool of the service `echoes`, by the researcher. */
export function request(toolName: string, more: Partial<Envelope> = {}): Envelope {
  const toolCallId = newId();
  const body = encodeMessage("ToolInvokeRequest", { toolCallId, toolName, arguments: "{}", sessionId: null });
  return createEnvelope({
    topic: "tool.invoke.echoes",
    type: messages.ToolInvokeRequest.type,
    source: "researcher",
    body,
    messageId: toolCallId,
    correlationId: toolCallId,
    ...more,
  });
}
