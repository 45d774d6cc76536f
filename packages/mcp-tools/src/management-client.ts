import { type Bus, createRequester, RequestTimeoutError, UnroutableError } from "@rockbot/bus";
import {
  createEnvelope,
  decodeMessage,
  type Envelope,
  encodeMessage,
  MCP_BRIDGE,
  type McpToolDefinition,
  mcpTopics,
  messages,
  newId,
  ToolError,
  ToolErrorCode,
} from "@rockbot/contracts";
import type { Identity } from "@rockbot/tools";

const MAX_WAIT_MS = 30_000;

/** Asks the bridge about single servers. */
export interface ManagementClient extends AsyncDisposable {
  /** The tools of a server. @throws {ToolError} */
  details(serverName: string, options: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<readonly McpToolDefinition[]>;
}

export function createManagementClient(bus: Bus, agent: string, identity: Pick<Identity, "isFrom">): ManagementClient {
  const requester = createRequester(bus, {
    replyTo: `mcp.manage.response.${agent}`,
    subscription: { name: `mcp-management.${agent}`, kind: "copy" },
  });
  const accept = (reply: Envelope): boolean => identity.isFrom(MCP_BRIDGE, reply, "result");
  return {
    async details(serverName, { timeoutMs, signal }) {
      const body = encodeMessage("McpGetServiceDetailsRequest", { serverName });
      const request = createEnvelope({ topic: mcpTopics.manage, type: messages.McpGetServiceDetailsRequest.type, source: agent, correlationId: newId(), body });
      const reply = await requester.request(request, { timeoutMs: Math.min(timeoutMs, MAX_WAIT_MS), signal, accept }).catch((error: unknown) => {
        throw askError(error, serverName);
      });
      const response = decodeMessage("McpGetServiceDetailsResponse", reply.body);
      if (!response.ok) throw new ToolError(ToolErrorCode.ExecutionFailed, "The MCP bridge gave an answer that cannot be read.");
      const { tools = [], error } = response.value;
      if (error != null) throw new ToolError(ToolErrorCode.Unavailable, `The MCP server "${serverName}" cannot be asked now: ${error}. Try again later.`);
      return tools;
    },
    [Symbol.asyncDispose]: () => requester[Symbol.asyncDispose](),
  };
}

function askError(error: unknown, serverName: string): unknown {
  if (error instanceof RequestTimeoutError)
    return new ToolError(ToolErrorCode.Timeout, `Timed out: the MCP bridge has not answered about the server "${serverName}". Try again later.`);
  if (error instanceof UnroutableError) return new ToolError(ToolErrorCode.Unavailable, "No MCP bridge is running. Try again later.");
  return error;
}
