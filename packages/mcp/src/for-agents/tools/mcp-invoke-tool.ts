import {
  announcedMcpName,
  nearestTools,
  parseArguments,
  saidBy,
  ToolError,
  ToolErrorCode,
  type ToolInvokeResponse,
  tools,
  trustOfAll,
} from "@rockbot/contracts";
import { defineTool, innerCallId, type Tool, type ToolCaller, type ToolContext } from "@rockbot/tools";
import { knownServer } from "../known-server.ts";
import type { NamedTools, TrustOf } from "../named-tools.ts";
import type { VisibleIndex } from "../visible-index.ts";

/** Calls a tool by its server, where no announcement says how. */
export type InvokeByServer = (
  serverName: string,
  toolName: string,
  args: object,
  context: ToolContext,
) => Promise<ToolInvokeResponse>;

interface McpInvokeToolParts {
  readonly caller: Pick<ToolCaller, "call" | "tools">;
  readonly invokeByServer: InvokeByServer;
  readonly trustOf: TrustOf;
}

/**
 * `mcp_invoke_tool`: a call within the call that asks for it, whose caller, deadline, cancellation and progress are the
 * same.
 */
export function mcpInvokeTool(
  indexOf: (caller: string) => VisibleIndex,
  { caller, invokeByServer, trustOf }: McpInvokeToolParts,
): Tool {
  return defineTool(tools.mcpInvokeTool, async ({ server_name, tool_name, arguments: given }, context) => {
    const { caller: onBehalfOf } = context;
    const index = indexOf(onBehalfOf);
    const { serverName, toolNames = [] } = knownServer(index, server_name);
    // A tool that the index does not name may have come since, or be held for an operator. The bridge says which, or
    // which name is nearest.
    const toolName =
      toolNames.find((name) => name === tool_name) ??
      toolNames.find((name) => name.toLowerCase() === tool_name.toLowerCase()) ??
      tool_name;
    const args = argumentsOf(given);
    if (!index.mayUse(serverName, toolName))
      throw new ToolError(
        ToolErrorCode.Denied,
        `"${onBehalfOf}" may not use "${toolName}" of the MCP server "${serverName}": the policy forbids it. Do without it; calling again changes nothing.`,
        { details: { reason: "policy" } },
      );
    const announced = announcedMcpName(serverName, toolName);
    const isAnnounced = caller.tools.getExecutor(announced) !== undefined;
    const { content, isError, structured, trust } = isAnnounced
      ? await caller.call(announced, args, {
          toolCallId: innerCallId(context.toolCallId),
          parent: context,
          onBehalfOf,
          sessionId: context.sessionId,
          onProgress: context.progress,
        })
      : await invokeByServer(serverName, toolName, args, context).catch((error: unknown) => {
          throw withNearest(error, toolName, { serverName, toolNames }, trustOf);
        });
    return { content: content ?? "", isError, structured, trust: trust ?? saidBy(`mcp:${serverName}`) };
  });
}

/** The bridge names no other tool, as it does not know which of them its asker may know of. */
function withNearest(
  error: unknown,
  toolName: string,
  { serverName, toolNames = [] }: NamedTools,
  trustOf: TrustOf,
): unknown {
  const { names, help } = nearestTools(toolName, toolNames);
  if (!(error instanceof ToolError) || error.code !== ToolErrorCode.ToolNotFound || help === undefined) return error;
  return new ToolError(error.code, `${error.message} D${help.slice(1)}`, {
    cause: error,
    details: { ...error.details, nearest: names[0] },
    trust: trustOfAll([error.trust, trustOf({ serverName, toolNames: [...names] })]),
  });
}

/** Models give the arguments as an object, or as the text of one. */
function argumentsOf(given: object | string | null | undefined): object {
  if (given == null || (typeof given === "string" && given.trim() === "")) return {};
  const value = typeof given === "string" ? parsed(given) : given;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new ToolError(
    ToolErrorCode.InvalidArguments,
    'Cannot call "mcp_invoke_tool": arguments: expected an object, or a JSON object as text',
  );
}

function parsed(text: string): unknown {
  const given = parseArguments(text);
  return given.ok ? given.value : undefined;
}
