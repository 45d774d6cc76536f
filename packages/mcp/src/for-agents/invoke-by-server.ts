import { type Bus, createRequester, RequestTimeoutError, UnroutableError } from "@rockbot/bus";
import {
  announcedMcpName,
  decodeMessage,
  type Envelope,
  MCP_BRIDGE,
  mcpCallEnvelope,
  mcpError,
  mcpTopics,
  messages,
  ToolError,
  ToolErrorCode,
  timeoutError,
  toolErrorFrom,
} from "@rockbot/contracts";
import type { Identity } from "@rockbot/tools";
import type { InvokeByServer } from "./tools/mcp-invoke-tool.ts";

/**
 * Calls a tool as agents of the .NET original do, for bridges that announce nothing: by the header that names the
 * server.
 */
export function invokeByServer(
  bus: Bus,
  agent: string,
  identity: Pick<Identity, "isFrom" | "callerNamed">,
): { readonly invoke: InvokeByServer } & AsyncDisposable {
  const self = identity.callerNamed(agent);
  const requester = createRequester(bus, {
    replyTo: `tool.result.${agent}.mcp`,
    subscription: { name: `mcp-proxy.${agent}`, kind: "copy" },
  });
  const accept = (reply: Envelope): boolean => identity.isFrom(MCP_BRIDGE, reply, "result");
  return {
    async invoke(serverName, toolName, args, { caller, deadline, signal, hasReadUntrusted, checkCall }) {
      checkCall?.(announcedMcpName(serverName, toolName), args);
      const timeoutMs = Math.max(1, Math.floor(deadline - performance.now()));
      const envelope = mcpCallEnvelope({
        topic: mcpTopics.invoke,
        source: agent,
        onBehalfOf: caller === self ? undefined : caller,
        server: serverName,
        tool: toolName,
        args,
        timeoutMs,
        hasReadUntrusted,
      });
      const reply = await requester.request(envelope, { timeoutMs, signal, accept }).catch((error: unknown) => {
        throw callError(error, toolName);
      });
      const response =
        reply.type === messages.ToolError.type ? undefined : decodeMessage("ToolInvokeResponse", reply.body);
      if (response?.ok) return response.value;
      const error = decodeMessage("ToolError", reply.body);
      throw error.ok
        ? mcpError(toolErrorFrom(error.value), false)
        : new ToolError(ToolErrorCode.OutcomeUnknown, `"${toolName}" got an answer that cannot be read.`);
    },
    [Symbol.asyncDispose]: () => requester[Symbol.asyncDispose](),
  };
}

function callError(error: unknown, toolName: string): unknown {
  if (error instanceof RequestTimeoutError) return timeoutError(`"${toolName}"`, { mayHaveRun: true });
  if (error instanceof UnroutableError)
    return new ToolError(
      ToolErrorCode.Unavailable,
      `"${toolName}" cannot be called now: no MCP bridge is running. Try again later.`,
    );
  return error;
}
