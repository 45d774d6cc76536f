import {
  type CallToolRequestParams,
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { redactValue } from "@rockbot/base/redaction";
import type { Logger } from "@rockbot/bus";
import { errorReply, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { boundedSchemaValidator } from "../schema/bounded-schema-validator.ts";
import { readCallMeta, tracedCall } from "./call-meta.ts";
import { callToolResult, errorResult } from "./call-tool-result.ts";
import { promptOf, promptsOf, resourceOf, resourcesOf } from "./guide-resources.ts";
import { progressNotifications } from "./progress-notifications.ts";
import { advertisedOutput, toListedTool } from "./tool-listing.ts";
import type { ToolSource } from "./tool-source.ts";

export interface ToolServerOptions {
  readonly version: string;
  readonly log: Logger;
}

const INSTRUCTIONS =
  "Tools of a RockBot system. A call that fails says why and whether to try again. How to use a group of tools says its guide: " +
  "list_tool_guides names the guides, get_tool_guide reads one; they are here as prompts and resources, too.";

/**
 * A server of the SDK over what a client may see and call, for one connection or one request, of either protocol era.
 * It keeps nothing: lists are read and calls are judged when they are asked for.
 */
export function createToolServer(source: ToolSource, { version, log }: ToolServerOptions): Server {
  const server = new Server(
    { name: "rockbot", title: "RockBot", version },
    {
      capabilities: { tools: { listChanged: true }, prompts: { listChanged: true }, resources: { listChanged: true } },
      instructions: INSTRUCTIONS,
      jsonSchemaValidator: boundedSchemaValidator, // the default one takes long to make, and there is nothing to check with it
    },
  );
  server.setRequestHandler("tools/list", async () => ({ tools: (await source.listTools()).map(toListedTool) }));
  server.setRequestHandler("tools/call", async ({ params }, ctx) => {
    const result = await callTool(source, params, ctx, log);
    return server.projectCallToolResult(result, await advertisedSchema(source, params.name, result));
  });
  server.setRequestHandler("prompts/list", async () => ({ prompts: promptsOf(await source.getGuides()) }));
  server.setRequestHandler("prompts/get", async ({ params }) => promptOf(await source.getGuides(), params.name));
  server.setRequestHandler("resources/list", async () => ({ resources: resourcesOf(await source.getGuides()) }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
  server.setRequestHandler("resources/read", async ({ params }) => resourceOf(await source.getGuides(), params.uri));
  return server;
}

async function callTool(
  source: ToolSource,
  params: CallToolRequestParams,
  { mcpReq }: ServerContext,
  log: Logger,
): Promise<CallToolResult> {
  const { name, arguments: args = {} } = params;
  const { _meta: meta, signal } = mcpReq;
  const { idempotencyKey, goesOn, ...asked } = readCallMeta(meta, source);
  const toolCallId = source.toolCallIdOf(idempotencyKey);
  const call = { toolCallId, toolName: name.slice(0, 256) };
  const token = meta?.progressToken;
  const onProgress = token === undefined ? undefined : progressNotifications(token, mcpReq.notify);
  try {
    const answer = tracedCall(call.toolName, meta, () =>
      source.call(name, args, {
        toolCallId,
        isKeyed: idempotencyKey !== undefined,
        ...asked,
        signal: goesOn ? undefined : signal,
        onProgress,
      }),
    );
    return callToolResult(await answer);
  } catch (error) {
    if (!(error instanceof ToolError)) {
      log.error({ err: error, tool: call.toolName }, "a call of an MCP client failed");
      return errorResult(
        new ToolError(
          ToolErrorCode.ExecutionFailed,
          `Cannot call "${call.toolName}": the gateway failed. Its log says why`,
        ),
        call,
      );
    }
    // The protocol has an error of its own for a name that nobody offers; what else fails is for the model to read.
    if (error.code === ToolErrorCode.ToolNotFound)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `Unknown tool: ${error.message}`,
        redactValue(errorReply(call, error)),
      );
    return errorResult(error, call);
  }
}

/** The output schema that clients of the older era were shown in another form, which their results follow. */
async function advertisedSchema(
  source: ToolSource,
  name: string,
  { structuredContent }: CallToolResult,
): Promise<Record<string, unknown> | undefined> {
  if (structuredContent === undefined) return undefined;
  const tool = (await source.listTools()).find((each) => each.name === name);
  return tool === undefined ? undefined : (advertisedOutput(tool) as Record<string, unknown> | undefined);
}
