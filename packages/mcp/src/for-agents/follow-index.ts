import type { Bus, Logger } from "@rockbot/bus";
import {
  createEnvelope,
  decodeMessage,
  encodeMessage,
  MCP_BRIDGE,
  type McpServersIndexed,
  mcpTopics,
  messages,
} from "@rockbot/contracts";
import type { Identity } from "@rockbot/tools";

export interface FollowIndexOptions {
  /** The agent's name: where its index comes. */
  readonly agent: string;
  readonly identity: Pick<Identity, "isFrom">;
  readonly hear: (message: McpServersIndexed) => void;
  readonly log: Logger;
}

export interface FollowedIndex extends AsyncDisposable {
  /** Asks for the whole index; servers that are away are tried again at once. Never rejects. */
  ask(this: void): Promise<void>;
}

const ASK_TTL_MS = 60_000;

/** Hears which MCP servers a bridge tells an agent of. Resolves once it would hear; nothing is asked by itself. */
export async function followIndex(
  bus: Bus,
  { agent, identity, hear, log }: FollowIndexOptions,
): Promise<FollowedIndex> {
  const subscription = await bus.subscribe(
    { name: `mcp-index.${agent}`, topics: [mcpTopics.index(agent)], kind: "copy" },
    async (envelope) => {
      const { body, type } = envelope;
      const message = type === messages.McpServersIndexed.type ? decodeMessage("McpServersIndexed", body) : undefined;
      if (message?.ok && identity.isFrom(MCP_BRIDGE, envelope, "announcement")) hear(message.value);
    },
  );
  return {
    async ask() {
      const body = encodeMessage("McpMetadataRefreshRequest", { serverName: null });
      const request = createEnvelope({
        topic: mcpTopics.refresh,
        type: messages.McpMetadataRefreshRequest.type,
        source: agent,
        ttlMs: ASK_TTL_MS,
        body,
      });
      await bus.publish(request).catch((error: unknown) => {
        log.debug({ error: String(error) }, "could not ask for the index of MCP servers");
      });
    },
    [Symbol.asyncDispose]: () => subscription[Symbol.asyncDispose](),
  };
}
