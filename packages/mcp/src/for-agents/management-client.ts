import { type Bus, createRequester, RequestTimeoutError, UnroutableError } from "@rockbot/bus";
import {
  createEnvelope,
  decodeMessage,
  type Envelope,
  encodeMessage,
  Header,
  MCP_BRIDGE,
  type McpRegisterServerRequest,
  type McpToolDefinition,
  type MessageName,
  type Messages,
  mcpTopics,
  messages,
  newId,
  ToolError,
  ToolErrorCode,
} from "@rockbot/contracts";
import type { Identity } from "@rockbot/tools";

const MAX_WAIT_MS = 30_000;

interface AskOptions {
  /** The caller for whom the bridge is asked. */
  readonly onBehalfOf: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** True if untrusted content led to the request. @default false */
  readonly hasReadUntrusted?: boolean | undefined;
}

/** Asks the bridge about single servers. */
export interface ManagementClient extends AsyncDisposable {
  /** The tools of a server, as far as somebody may use them. @throws {ToolError} */
  details(serverName: string, options: AskOptions): Promise<readonly McpToolDefinition[]>;
  /** Asks for one more server, which then is the caller's. @returns what it offers, in words @throws {ToolError} */
  register(server: McpRegisterServerRequest, options: AskOptions): Promise<string>;
  /** Asks for a server to go that the caller has registered. @throws {ToolError} */
  unregister(serverName: string, options: AskOptions): Promise<void>;
}

export function createManagementClient(
  bus: Bus,
  agent: string,
  identity: Pick<Identity, "isFrom" | "callerNamed">,
): ManagementClient {
  const self = identity.callerNamed(agent);
  const requester = createRequester(bus, {
    replyTo: `mcp.manage.response.${agent}`,
    subscription: { name: `mcp-management.${agent}`, kind: "copy" },
  });
  const accept = (reply: Envelope): boolean => identity.isFrom(MCP_BRIDGE, reply, "result");

  async function ask<Request extends MessageName, Response extends MessageName>(
    [requestName, responseName]: readonly [Request, Response],
    value: Messages[Request] & { readonly serverName: string },
    { timeoutMs, signal, hasReadUntrusted = false, onBehalfOf }: AskOptions,
  ): Promise<Messages[Response]> {
    const body = encodeMessage(requestName, value);
    const headers = {
      ...(onBehalfOf === self ? {} : { [Header.OnBehalfOf]: onBehalfOf }),
      ...(hasReadUntrusted ? { [Header.Untrusted]: "true" } : {}),
    };
    const request = createEnvelope({
      topic: mcpTopics.manage,
      type: messages[requestName].type,
      source: agent,
      correlationId: newId(),
      headers,
      body,
    });
    const reply = await requester
      .request(request, { timeoutMs: Math.min(timeoutMs, MAX_WAIT_MS), signal, accept })
      .catch((error: unknown) => {
        throw askError(error, value.serverName);
      });
    const response = decodeMessage(responseName, reply.body);
    if (!response.ok)
      throw new ToolError(ToolErrorCode.ExecutionFailed, "The MCP bridge gave an answer that cannot be read.");
    return response.value;
  }

  return {
    async details(serverName, options) {
      const { tools = [], error } = await ask(
        ["McpGetServiceDetailsRequest", "McpGetServiceDetailsResponse"],
        { serverName },
        options,
      );
      if (error != null)
        throw new ToolError(
          ToolErrorCode.Unavailable,
          `The MCP server "${serverName}" cannot be asked now: ${error}. Try again later.`,
        );
      return tools;
    },
    async register(server, options) {
      const {
        success = false,
        summary,
        error,
        code,
      } = await ask(["McpRegisterServerRequest", "McpRegisterServerResponse"], server, options);
      if (!success) throw refusal(code, error);
      return summary ?? "";
    },
    async unregister(serverName, options) {
      const {
        success = false,
        error,
        code,
      } = await ask(["McpUnregisterServerRequest", "McpUnregisterServerResponse"], { serverName }, options);
      if (!success) throw refusal(code, error);
    },
    [Symbol.asyncDispose]: () => requester[Symbol.asyncDispose](),
  };
}

/** A bridge of the .NET original says no code. */
function refusal(code: string | null | undefined, error: string | null | undefined): ToolError {
  const message = error ?? "The MCP bridge has not said why.";
  return new ToolError(
    code ?? ToolErrorCode.ExecutionFailed,
    code != null && message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message,
  );
}

function askError(error: unknown, serverName: string): unknown {
  if (error instanceof RequestTimeoutError)
    return new ToolError(
      ToolErrorCode.Timeout,
      `Timed out: the MCP bridge has not answered about the server "${serverName}". Try again later.`,
    );
  if (error instanceof UnroutableError)
    return new ToolError(ToolErrorCode.Unavailable, "No MCP bridge is running. Try again later.");
  return error;
}
