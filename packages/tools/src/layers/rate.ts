import type { Charge } from "@rockbot/base";
import {
  type ToolDefinition,
  ToolError,
  ToolErrorCode,
  type ToolInvokeRequest,
  type ToolInvokeResponse,
} from "@rockbot/contracts";
import { claimKeyText } from "@rockbot/records/claims";
import type { RateStore } from "@rockbot/records/rates";
import type { ToolContext, ToolExecutor, ToolLayer } from "../define/tool-executor.ts";
import type { RunKeeper } from "../runs/run-keeper.ts";

/**
 * Holds callers to how often they may call and how many bytes they may move, and says when to come back. A call is
 * counted when it is let through, whatever becomes of it then. It is not counted again when its record brings it or
 * has it, when the bus redelivers it, or when it repeats a call with effects that still runs here, and joins it.
 */
export function rate(definition: ToolDefinition, store: RateStore, keeperOf: () => RunKeeper | undefined): ToolLayer {
  const running = new Set<string>();
  return (next) => ({
    execute(request, context) {
      const { decision } = context;
      if (decision === undefined || (decision.rates.length === 0 && decision.bytes === undefined))
        return next.execute(request, context);
      return counted(next, request, context);
    },
  });

  async function counted(
    next: ToolExecutor,
    request: ToolInvokeRequest,
    context: ToolContext,
  ): Promise<ToolInvokeResponse> {
    if (context.isRedelivered || context.run !== undefined || (await keeperOf()?.has(request, context)))
      return runAndCharge(next, request, context);
    if (definition.readOnly) {
      await takeRates(store, request, context);
      return runAndCharge(next, request, context);
    }
    const key = claimKeyText({ caller: context.caller, toolCallId: request.toolCallId });
    if (running.has(key)) return next.execute(request, context);
    running.add(key);
    try {
      await takeRates(store, request, context);
      return await runAndCharge(next, request, context);
    } finally {
      running.delete(key);
    }
  }

  async function runAndCharge(
    next: ToolExecutor,
    request: ToolInvokeRequest,
    context: ToolContext,
  ): Promise<ToolInvokeResponse> {
    const response = await next.execute(request, context);
    const bytes = context.decision?.bytes;
    if (bytes !== undefined)
      void store
        .charge({ ...bytes, cost: bytesOf(response) })
        .catch((error: unknown) => context.log.warn({ error: String(error) }, "could not count the bytes of a result"));
    return response;
  }
}

/** Takes one call, and the bytes of its arguments, from all that the caller has. @throws {ToolError} `rate_limited` */
export async function takeRates(
  store: RateStore,
  request: Pick<ToolInvokeRequest, "toolName" | "arguments">,
  { decision, caller }: Pick<ToolContext, "decision" | "caller">,
): Promise<void> {
  if (decision === undefined) return;
  const { rates, bytes, revision } = decision;
  const charges: Charge[] = rates.map((limit) => ({ ...limit, cost: 1 }));
  // More than the bucket holds would never be let through.
  if (bytes !== undefined)
    charges.push({ ...bytes, cost: Math.min(bytes.amount, Buffer.byteLength(request.arguments ?? "")) });
  const shortage = await store.take(charges);
  if (shortage === undefined) return;
  const { amount, perMs } = charges[shortage.index] as Charge;
  const isBytes = shortage.index === rates.length;
  const limit = `${amount} ${isBytes ? "bytes" : "calls"} in ${perMs / 1_000} s`;
  throw new ToolError(
    ToolErrorCode.RateLimited,
    `"${request.toolName}" was not run: "${caller}" has used up its ${limit}. Try again in ${Math.ceil(shortage.retryAfterMs / 1_000)} s, or do without.`,
    { retryAfterMs: shortage.retryAfterMs, details: { reason: isBytes ? "bytes" : "calls", revision } },
  );
}

const bytesOf = ({ content, structured }: ToolInvokeResponse): number =>
  Buffer.byteLength(content ?? "") + (structured == null ? 0 : Buffer.byteLength(JSON.stringify(structured)));
