import {
  type CallToolRequestParams,
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { redactValue } from "@rockbot/base/redaction";
import type { Logger } from "@rockbot/bus";
import { errorReply, Keep, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { boundedSchemaValidator } from "../schema/bounded-schema-validator.ts";
import { readCallMeta, tracedCall } from "./call-meta.ts";
import { callToolResult, errorResult } from "./call-tool-result.ts";
import { promptOf, promptsOf, resourceOf, resourcesOf } from "./guide-resources.ts";
import { progressNotifications } from "./progress-notifications.ts";
import { type CallQuestions, callQuestions } from "./runs/questions.ts";
import { abilitiesOf, serveTasks, taskOf } from "./runs/tasks.ts";
import { advertisedOutput, toListedTool } from "./tool-listing.ts";
import type { OfferedRuns, ToolSource } from "./tool-source.ts";

export interface ToolServerOptions {
  readonly version: string;
  readonly log: Logger;
  /** The protocol era of the client. Only the newer one has tasks and questions here. @default "legacy" */
  readonly era?: "legacy" | "modern" | undefined;
}

const INSTRUCTIONS =
  "Tools of a RockBot system. A call that fails says why and whether to try again. How to use a group of tools says its guide: " +
  "list_tool_guides names the guides, get_tool_guide reads one; they are here as prompts and resources, too.";

/**
 * A server of the SDK over what a client may see and call, for one connection or one request, of either protocol era.
 * It keeps nothing: lists are read and calls are judged when they are asked for.
 */
export function createToolServer(source: ToolSource, { version, log, era }: ToolServerOptions): Server {
  const runs = era === "modern" ? source.runs : undefined;
  const questions = callQuestions(runs);
  const server = new Server(
    { name: "rockbot", title: "RockBot", version },
    {
      capabilities: { tools: { listChanged: true }, prompts: { listChanged: true }, resources: { listChanged: true } },
      instructions: INSTRUCTIONS,
      jsonSchemaValidator: boundedSchemaValidator, // the default one takes long to make, and there is nothing to check with it
      requestState: { verify: questions.verify },
    },
  );
  server.setRequestHandler("tools/list", async () => ({ tools: (await source.listTools()).map(toListedTool) }));
  server.setRequestHandler("tools/call", async ({ params }, ctx) => {
    const result = await callTool(source, params, { ctx, runs, questions, log });
    if (result["resultType"] !== undefined) return result;
    const whole = result as CallToolResult;
    return server.projectCallToolResult(whole, await advertisedSchema(source, params.name, whole));
  });
  server.setRequestHandler("prompts/list", async () => ({ prompts: promptsOf(await source.getGuides()) }));
  server.setRequestHandler("prompts/get", async ({ params }) => promptOf(await source.getGuides(), params.name));
  server.setRequestHandler("resources/list", async () => ({ resources: resourcesOf(await source.getGuides()) }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
  server.setRequestHandler("resources/read", async ({ params }) => resourceOf(await source.getGuides(), params.uri));
  if (runs !== undefined) serveTasks(server, runs);
  return server;
}

interface Calling {
  readonly ctx: ServerContext;
  /** The calls that go on, where the client can hear of them. */
  readonly runs: OfferedRuns | undefined;
  readonly questions: CallQuestions;
  readonly log: Logger;
}

/** The result of a call, or what stands for it while it waits for people or runs detached. */
async function callTool(
  source: ToolSource,
  params: CallToolRequestParams,
  calling: Calling,
): Promise<CallToolResult | InputRequiredResult> {
  const { name, arguments: args = {} } = params;
  const { _meta: meta, signal } = calling.ctx.mcpReq;
  const { idempotencyKey, goesOn, isDetached, ...asked } = readCallMeta(meta, source);
  const goingOn = await calling.questions.take(calling.ctx, name, args);
  const toolCallId = goingOn ?? source.toolCallIdOf(idempotencyKey);
  const { hasTasks, hasForms } = abilitiesOf(calling.ctx);
  const call = { toolCallId, toolName: name.slice(0, 256) };
  const token = meta?.progressToken;
  const onProgress = token === undefined ? undefined : progressNotifications(token, calling.ctx.mcpReq.notify);
  try {
    const answer = tracedCall(call.toolName, meta, () =>
      source.call(name, args, {
        toolCallId,
        isKeyed: idempotencyKey !== undefined || goingOn !== undefined,
        ...asked,
        keep: isDetached ? Keep.Detached : hasTasks && calling.runs !== undefined ? Keep.Told : undefined,
        asksCaller: hasForms && calling.runs?.sealKey !== undefined,
        signal: goesOn ? undefined : signal,
        onProgress,
      }),
    );
    return callToolResult(await answer);
  } catch (error) {
    const standing = await standingOf(error, toolCallId, { name, args, ...calling });
    if (standing !== undefined) return standing;
    if (!(error instanceof ToolError)) {
      calling.log.error({ err: error, tool: call.toolName }, "a call of an MCP client failed");
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

/** What stands for a call that goes on: a task, or the question of its tool. */
async function standingOf(
  error: unknown,
  toolCallId: string,
  { name, args, ctx, runs, questions }: Calling & { readonly name: string; readonly args: object },
): Promise<InputRequiredResult | undefined> {
  if (!(error instanceof ToolError && error.code === ToolErrorCode.Pending && error.details?.["isKept"] === true))
    return undefined;
  const run = await runs?.find(toolCallId).catch(() => undefined); // then the error says how to go on
  const abilities = abilitiesOf(ctx);
  if (run !== undefined && abilities.hasTasks)
    return { ...taskOf(run), resultType: "task" } as unknown as InputRequiredResult; // an extension's, which the SDK does not know
  if (run?.question === undefined || !abilities.hasForms) return undefined;
  return questions.ask(toolCallId, run.question, { name, args, ctx });
}

/** The output schema that clients of the older era were shown in another form, which their results follow. */
async function advertisedSchema(
  source: ToolSource,
  name: string,
  { structuredContent }: CallToolResult,
): Promise<Record<string, unknown> | undefined> {
  if (structuredContent === undefined) return undefined;
  const tool = await source.findTool(name);
  return tool === undefined ? undefined : (advertisedOutput(tool) as Record<string, unknown> | undefined);
}
