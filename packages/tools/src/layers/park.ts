import { Header, Keep, type ToolDefinition, type ToolInvokeRequest, type ToolInvokeResponse } from "@rockbot/contracts";
import { type Approval, isApproved, RUN_MS, RunState } from "@rockbot/runs";
import type { Tool } from "../define/define-tool.ts";
import type { HeldCall, ToolContext, ToolLayer } from "../define/tool-executor.ts";
import { asking } from "../runs/asking.ts";
import { askedOf, bindingOf } from "../runs/binding.ts";
import { orJoin, parkCall } from "../runs/park-call.ts";
import { cannotWait, conflict } from "../runs/run-errors.ts";
import type { ParkedCall, RunKeeper } from "../runs/run-keeper.ts";
import { unknownOutcome } from "./claim.ts";

/**
 * Parks a call that the policy wants people to approve, or whose caller does not wait: its record answers for it, and
 * its delivery ends. The call comes here once more from its record, after all layers before. Then the policy of that
 * moment decides again, and the call runs only if what was approved is what runs.
 */
export function park(
  definition: ToolDefinition,
  keeperOf: () => RunKeeper | undefined,
  { isResumable = false, asks = false }: Pick<Tool, "isResumable" | "asks"> = {},
): ToolLayer {
  return (inner) => {
    const next = asks ? asking(inner, keeperOf) : inner;
    const delivered = (request: ToolInvokeRequest, context: ToolContext): Promise<ToolInvokeResponse> => {
      const execution = next.execute(request, context);
      if (definition.readOnly) return execution; // without a claim
      return execution.catch((error: unknown) => orJoin(error, keeperOf(), request, context));
    };
    const recorded = async (request: ToolInvokeRequest, context: ToolContext): Promise<ToolInvokeResponse> => {
      const asked = askingOf(definition, context);
      const keeper = keeperOf();
      if (context.run !== undefined) {
        const { run } = context;
        const again = {
          ...(run.run.hasStarted ? { mayHaveBegun: true } : {}),
          ...(isResumable ? { later: (ms: number) => run.later(ms) } : {}),
        };
        await resume(run, asked, { definition, keeper, isResumable });
        return next.execute(request, { ...context, ...again });
      }
      if (asked !== undefined || isDetached(context)) {
        if (asked !== undefined) context.progress({ message: `awaiting approval: ${request.toolCallId}` });
        await parkCall(keeper, request, context, parkedFor(asked));
        // The call was taken before without a record. The claim layer knows about it, where there is one.
        if (asked !== undefined && definition.readOnly) throw conflict(request);
      }
      return delivered(request, context);
    };
    return {
      execute: (request, context) =>
        context.run !== undefined || isDetached(context) || context.decision?.approvals.length
          ? recorded(request, context)
          : delivered(request, context),
    };
  };
}

const isDetached = ({ arrival }: ToolContext): boolean => arrival?.message.headers[Header.Keep] === Keep.Detached;

/**
 * Refuses a call that people have to approve, where it comes by a way that has no records.
 * @throws {ToolError} `denied`
 */
export function checkUnasked(toolName: string, input: unknown, { decision }: Pick<ToolContext, "decision">): void {
  if (askedOf(decision, input).length > 0) throw cannotWait(toolName);
}

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

function parkedFor(asking: Asking | undefined): Pick<ParkedCall, "approval" | "forMs"> {
  if (asking === undefined) return { forMs: RUN_MS };
  const { forMs, ...approval } = asking;
  return { approval, forMs };
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
  const key = keeper?.operatorKey;
  const approval = asking === undefined ? undefined : { ...asking, ...run.approval, asked: asking.asked };
  const isFine = asking === undefined || (key !== undefined && isApproved({ ...run, approval }, asking.binding, key));
  // What was approved once is approved for one run.
  const mayRunAgain = isResumable || run.handle !== undefined || readOnly || (idempotent && run.approval === undefined);
  if (run.hasStarted) {
    await held.take(!mayRunAgain);
    // The store's word that it had begun approves nothing.
    if (!isFine || !mayRunAgain) throw unknownOutcome({ toolName: name });
    return;
  }
  if (isFine) return held.take(!mayRunAgain);
  if (run.state === RunState.Running) {
    await held.take(true); // its owner is gone
    await held.giveBack();
  }
  const { forMs, ...asked } = asking;
  await held.askAgain(asked, forMs);
}
