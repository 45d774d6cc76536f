import { createFairQueues } from "@rockbot/base";
import { ToolError, ToolErrorCode, type ToolInvokeRequest, type ToolInvokeResponse } from "@rockbot/contracts";
import type { ToolContext, ToolExecutor, ToolLayer } from "../define/tool-executor.ts";

/** A guess, so that callers do not come back at once. */
const RETRY_AFTER_MS = 1_000;

/** Gives calls their turns, within the policy's bounds of what runs at once in this process. */
export interface PolicyTurns {
  /**
   * Waits for the call's turn, which ends with its disposal.
   * @throws {ToolError} `overloaded` if too many wait @throws the signal's reason once it aborts
   */
  enter(toolName: string, call: Pick<ToolContext, "caller" | "signal" | "decision">): Promise<Disposable>;
}

/**
 * One bound is for one tool and one caller, one for the queue that the policy puts the tool in. Callers that wait have
 * their turns in rotation. As many calls of one caller wait as may run, and in a queue as many as the policy says.
 */
export function createPolicyTurns(): PolicyTurns {
  const queues = createFairQueues();

  async function enter(
    name: string,
    limits: { concurrency: number; waiting: number },
    toolName: string,
    { caller, signal, decision }: Parameters<PolicyTurns["enter"]>[1],
  ): Promise<Disposable> {
    const turn = await queues.enter(name, caller, { ...limits, signal });
    if (turn !== undefined) return turn;
    throw new ToolError(
      ToolErrorCode.Overloaded,
      `"${toolName}" was not run: ${limits.concurrency} calls run, the most that may at once, and too many wait. Try again later.`,
      { retryAfterMs: RETRY_AFTER_MS, details: { reason: "queue", revision: decision?.revision } },
    );
  }

  return {
    async enter(toolName, call) {
      const { concurrency, queue: shared } = call.decision ?? {};
      using entered = new DisposableStack();
      const own = JSON.stringify([toolName, call.caller]);
      if (concurrency !== undefined)
        entered.use(await enter(own, { concurrency, waiting: concurrency }, toolName, call));
      if (shared !== undefined) entered.use(await enter(shared.name, shared, toolName, call));
      return entered.move();
    },
  };
}

/** Has each call wait for its turn by the policy. The wait ends with the call's deadline. */
export function queue(turns = createPolicyTurns()): ToolLayer {
  return (next) => ({
    execute(request, context) {
      const { decision } = context;
      if (decision === undefined || (decision.concurrency === undefined && decision.queue === undefined))
        return next.execute(request, context);
      return inTurn(next, request, context);
    },
  });

  async function inTurn(
    next: ToolExecutor,
    request: ToolInvokeRequest,
    context: ToolContext,
  ): Promise<ToolInvokeResponse> {
    using _turn = await turns.enter(request.toolName, context);
    return await next.execute(request, context);
  }
}
