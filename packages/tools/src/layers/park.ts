import {
  Header,
  Keep,
  type ToolDefinition,
  ToolError,
  ToolErrorCode,
  type ToolInvokeRequest,
} from "@rockbot/contracts";
import { StoreFullError, StoreUnavailableError } from "@rockbot/records";
import { type Approval, isApproved, RunState } from "@rockbot/runs";
import type { Tool } from "../define/define-tool.ts";
import type { HeldCall, ToolContext, ToolLayer } from "../define/tool-executor.ts";
import { hashRequest } from "../messages/hash-request.ts";
import { askedOf, bindingOf } from "../runs/binding.ts";
import { notParked } from "../runs/run-errors.ts";
import type { RunKeeper } from "../runs/run-keeper.ts";
import { conflict, unknownOutcome } from "./claim.ts";

/** How long a call runs detached, at most. */
const DETACHED_MS = 24 * 3_600_000;

/**
 * Parks a call that the policy wants people to approve, or whose caller does not wait: its record answers for it, and
 * its delivery ends. The call comes here once more from its record, after all layers before. Then the policy of that
 * moment decides again, and the call runs only if what was approved is what runs.
 */
export function park(
  definition: ToolDefinition,
  keeperOf: () => RunKeeper | undefined,
  { isResumable = false }: Pick<Tool, "isResumable"> = {},
): ToolLayer {
  return (next) => ({
    execute(request, context) {
      if (context.run === undefined && !isDetached(context) && !context.decision?.approvals.length)
        return next.execute(request, context);
      return execute(request, context);

      async function execute(...call: [ToolInvokeRequest, ToolContext]) {
        const asking = askingOf(definition, call[1]);
        const keeper = keeperOf();
        if (context.run !== undefined) {
          await resume(context.run, asking, { definition, keeper, isResumable });
          return next.execute(...call);
        }
        if (asking === undefined && !isDetached(context)) return next.execute(...call);
        await parkCall(keeper, request, context, asking);
        return next.execute(...call); // it was taken before without a record, which the claim layer knows about
      }
    },
  });
}

const isDetached = ({ arrival }: ToolContext): boolean => arrival?.message.headers[Header.Keep] === Keep.Detached;

/**
 * Refuses a call that people have to approve, where it comes by a way that has no records.
 * @throws {ToolError} `denied`
 */
export function checkUnasked(toolName: string, input: unknown, { decision }: Pick<ToolContext, "decision">): void {
  if (askedOf(decision, input).length > 0) throw cannotWait(toolName);
}

const cannotWait = (toolName: string): ToolError =>
  new ToolError(
    ToolErrorCode.Denied,
    `"${toolName}" was not run: the policy wants people to approve the call, and the way by which it came cannot wait for them. Do without it.`,
    { details: { reason: "cannot_wait", mayHaveRun: false } },
  );

/** What people are asked about a call. */
interface Asking extends Approval {
  readonly forMs: number;
}

function askingOf(definition: ToolDefinition, { decision, input, caller }: ToolContext): Asking | undefined {
  const asked = askedOf(decision, input);
  if (asked.length === 0) return undefined;
  const { binding, text } = bindingOf(definition, input, { caller, asked, boundTo: decision?.boundTo });
  return {
    asked: asked.map(({ by, needed }) => ({ by, needed })),
    binding,
    arguments: text,
    decisions: [],
    forMs: Math.min(...asked.map(({ forMs }) => forMs)),
  };
}

async function parkCall(
  keeper: RunKeeper | undefined,
  request: ToolInvokeRequest,
  { arrival, caller, operator, deadline, progress }: ToolContext,
  asking: Asking | undefined,
): Promise<void> {
  const { toolName, toolCallId } = request;
  if (keeper === undefined || arrival === undefined) throw cannotWait(toolName);
  if (asking !== undefined) progress({ message: `awaiting approval: ${toolCallId}` });
  const { forMs = DETACHED_MS, ...approval } = asking ?? {};
  try {
    const call = {
      caller,
      operator,
      toolName,
      toolCallId,
      requestHash: hashRequest(request),
      leftMs: Math.max(0, Math.floor(deadline - performance.now())),
      forMs,
      approval: asking === undefined ? undefined : (approval as Approval),
    };
    const parked = await keeper.park(call, arrival);
    if (parked === "conflict") throw conflict(request);
  } catch (error) {
    if (error instanceof StoreFullError)
      throw new ToolError(ToolErrorCode.Overloaded, `"${toolName}" was not run: ${error.message}.`, {
        details: { reason: "parked", mayHaveRun: false },
        cause: error,
      });
    if (error instanceof StoreUnavailableError) throw notParked(request, error);
    throw error;
  }
}

/** Takes a run whose call has come through all layers again, or asks once more. */
async function resume(
  held: HeldCall,
  asking: Asking | undefined,
  {
    definition: { readOnly, idempotent, name },
    keeper,
    isResumable,
  }: { readonly definition: ToolDefinition; readonly keeper: RunKeeper | undefined; readonly isResumable: boolean },
): Promise<void> {
  const { run } = held;
  if (run.hasStarted) {
    await held.take();
    // What was approved once is approved for one run.
    const mayRunAgain = isResumable || readOnly || (idempotent && run.approval === undefined);
    if (!mayRunAgain) throw unknownOutcome({ toolName: name });
    return;
  }
  const key = keeper?.operatorKey;
  const approval = asking === undefined ? undefined : { ...asking, ...run.approval, asked: asking.asked };
  const isFine = asking === undefined || (key !== undefined && isApproved({ ...run, approval }, asking.binding, key));
  if (isFine) return held.take();
  if (run.state === RunState.Running) {
    await held.take(); // its owner is gone
    await held.giveBack();
  }
  const { forMs, ...asked } = asking;
  await held.askAgain(asked, forMs);
}
