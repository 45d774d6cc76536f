import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  fromJsonSchema,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { isRecord } from "@rockbot/base";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { boundedSchemaValidator } from "../../schema/bounded-schema-validator.ts";
import { callToolResult, errorResult } from "../call-tool-result.ts";
import type { OfferedRun, OfferedRuns } from "../tool-source.ts";
import { contentOf, formsFor } from "./questions.ts";

/** The newer era's extension for calls that go on without their requests. */
const TASKS = "io.modelcontextprotocol/tasks";
const extensions = { [TASKS]: {} };
const POLL_MS = 2_000;

/** What a client can do: it knows tasks, and shows forms to a person. Each request says so. */
export function abilitiesOf({ mcpReq }: ServerContext): { readonly hasTasks: boolean; readonly hasForms: boolean } {
  const { [CLIENT_CAPABILITIES_META_KEY]: declared } = { ...mcpReq.envelope } as Readonly<Record<string, unknown>>;
  const { extensions: known, elicitation } = (declared ?? {}) as ClientCapabilities;
  const hasForms = isRecord(elicitation) && (elicitation["form"] !== undefined || elicitation["url"] === undefined);
  return { hasTasks: known?.[TASKS] !== undefined, hasForms };
}

/** Answers requests about tasks. The id of a call is that of its task. */
export function serveTasks(server: Server, runs: OfferedRuns): void {
  const handle = (method: string, answer: (run: OfferedRun, ctx: ServerContext) => Promise<Result>): void =>
    server.setRequestHandler(method, { params: taskParams }, async ({ taskId }, ctx) => {
      if (!abilitiesOf(ctx).hasTasks)
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions } });
      const run = await runs.find(taskId);
      if (run !== undefined) return answer(run, ctx);
      const why = `There is no task ${JSON.stringify(taskId.slice(0, 80))}: you have made no such call in the last day`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, why);
    });
  server.registerCapabilities({ extensions });
  handle("tasks/get", async (run, ctx) => ({ ...taskOf(run), ...standingOf(run, abilitiesOf(ctx).hasForms) }));
  handle("tasks/cancel", async ({ toolCallId }) => {
    await runs.cancel(toolCallId);
    return {};
  });
  handle("tasks/update", async ({ toolCallId, question: { key } = { key: "" } }, { mcpReq }) => {
    const given = mcpReq.inputResponses?.[key];
    if (given !== undefined) await runs.answer(toolCallId, key, contentOf(given));
    return {};
  });
}

/** A task that works, as far as its call says. */
export const taskOf = ({ toolCallId, status, createdAt, changedAt, keptUntil }: OfferedRun) => ({
  taskId: toolCallId,
  status: "working",
  ...(status === undefined ? {} : { statusMessage: status }),
  createdAt: new Date(createdAt).toISOString(),
  lastUpdatedAt: new Date(changedAt).toISOString(),
  ttlMs: keptUntil - createdAt,
  pollIntervalMs: POLL_MS,
});

/** How else it stands. A call that failed has a result, too: that is no fault of the protocol. */
function standingOf(run: OfferedRun, hasForms: boolean): object {
  const { reply, question } = run;
  if (reply instanceof ToolError)
    return reply.code === ToolErrorCode.Cancelled
      ? { status: "cancelled" }
      : { status: "completed", result: errorResult(reply, run) };
  if (reply !== undefined) return { status: "completed", result: callToolResult(reply) };
  return question === undefined || !hasForms ? {} : { status: "input_required", inputRequests: formsFor(question) };
}

const taskParams = fromJsonSchema<{ readonly taskId: string }>(
  { type: "object", required: ["taskId"], properties: { taskId: { type: "string" } } },
  boundedSchemaValidator,
);
