import { hash } from "node:crypto";
import { createSemaphore } from "@rockbot/base";
import {
  type ContentTrust,
  partFailures,
  type ToolAgentBatchInput,
  type ToolAgentBatchOutput,
  ToolError,
  tools,
  trustOfAll,
} from "@rockbot/contracts";
import { defineTool, type Tool, type ToolContext } from "@rockbot/tools";
import type { InnerCalls } from "../calls/inner-calls.ts";
import { readCalls } from "../calls/read-calls.ts";
import { storedError, storedResponse, trustIn } from "../calls/stored-result.ts";
import type { StoredResult } from "../store/turn-store.ts";

type BatchCall = ToolAgentBatchInput["calls"][number];
type BatchResult = ToolAgentBatchOutput["results"][number];

export interface BatchToolOptions {
  readonly calls: InnerCalls;
  /** Calls of one batch that run at once. */
  readonly maxParallel: number;
}

/** These are about the session, so that a turn makes them itself. */
const NOT_IN_A_BATCH: readonly string[] = [
  tools.agentBatch.name,
  tools.agentFinalReport.name,
  tools.routerHandoffTo.name,
];

/** The id of a call of a batch: the same whenever the batch runs again, so that nothing runs twice. */
const batchCallId = (batchId: string, index: number): string =>
  hash("sha256", `batch ${batchId} ${index}`, "hex").slice(0, 32);

/** `agent__batch`: makes the calls as the turn makes those of its model, and gives the result of each. */
export function batchTool({ calls, maxParallel }: BatchToolOptions): Tool {
  return defineTool(tools.agentBatch, async ({ calls: wanted, order = "parallel" }, context) => {
    const places = createSemaphore(order === "sequential" ? 1 : maxParallel);
    const trusts: (ContentTrust | undefined)[] = [];
    const results = await Promise.all(
      wanted.map(async (call, index): Promise<BatchResult> => {
        using _place = await places.acquire(context.signal);
        return await runCall(call, index, {
          calls,
          context: context as ToolContext & { readonly toolCallId: string },
          onRead: (trust) => trusts.push(trust),
        });
      }),
    );
    const isError = results.every(({ ok }) => !ok);
    const failures = partFailures(
      results.flatMap(({ id, ok, error = "" }) => (ok ? [] : [{ item: id, error }])),
      results.length,
    );
    const structured = { ...(failures === undefined ? {} : { failures }), results };
    return { content: JSON.stringify(structured), structured, isError, trust: trustOfAll(trusts) };
  });
}

interface RunCallOptions extends Pick<BatchToolOptions, "calls"> {
  readonly context: ToolContext & { readonly toolCallId: string };
  readonly onRead: (trust: ContentTrust | undefined) => void;
}

async function runCall(
  { id = "", tool, arguments: args = {} }: BatchCall,
  index: number,
  { calls, context, onRead }: RunCallOptions,
): Promise<BatchResult> {
  const answer = {
    text: "",
    toolCalls: [{ id: "", name: tool, arguments: JSON.stringify(args) }],
    finish: "tool_calls",
    usage: { inputTokens: 0, outputTokens: 0 },
  } as const;
  const [read] = readCalls(answer, {
    tools: calls.tools.map((known) => known.tool),
    refusal: calls.refusal,
    results: [],
    iteration: 0,
  }).toolCalls;
  const name = read?.name ?? tool;
  const own = { id: id === "" ? String(index + 1) : id, tool: name };
  if (read?.refusal !== undefined) return { ...own, ok: false, error: read.refusal };
  if (NOT_IN_A_BATCH.includes(name))
    return { ...own, ok: false, error: `"${name}" cannot be part of a batch: call it by itself.` };
  const asRead = (stored: StoredResult): BatchResult => {
    onRead(trustIn(stored));
    return stored.isError ? { ...own, ok: false, error: stored.content } : { ...own, ok: true, result: stored.content };
  };
  try {
    return asRead(
      storedResponse(
        await calls.call(
          { callId: batchCallId(context.toolCallId, index), name, arguments: read?.arguments ?? "{}" },
          context,
        ),
      ),
    );
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return asRead(storedError(error));
  }
}
