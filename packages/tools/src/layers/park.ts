import {
  Header,
  Keep,
  type ToolDefinition,
  ToolError,
  ToolErrorCode,
  type ToolInvokeRequest,
  type ToolInvokeResponse,
} from "@rockbot/contracts";
import { StoreFullError, StoreUnavailableError } from "@rockbot/records";
import { type Approval, isApproved, MAX_HANDLE_CHARS, RunState } from "@rockbot/runs";
import type { Tool } from "../define/define-tool.ts";
import type { HeldCall, ToolContext, ToolExecutor, ToolLayer } from "../define/tool-executor.ts";
import { hashRequest } from "../messages/hash-request.ts";
import { askedOf, bindingOf } from "../runs/binding.ts";
import { AskedError, Questions, RecordedError } from "../runs/questions.ts";
import { notParked, recordGone } from "../runs/run-errors.ts";
import type { ParkedCall, RunKeeper } from "../runs/run-keeper.ts";
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

/** The refusal of a call that has to wait where nothing waits. */
export const cannotWait = (toolName: string): ToolError =>
  new ToolError(
    ToolErrorCode.Denied,
    `"${toolName}" was not run: the call has to wait for a person, and the way by which it came cannot wait. Do without it.`,
    { details: { reason: "cannot_wait", mayHaveRun: false } },
  );

/** How long a question waits for its answer. */
const QUESTION_MS = 24 * 3_600_000;

/** Has the calls of a tool ask people. One that asks ends here, and its record waits for the answer. */
const asking = (next: ToolExecutor, keeperOf: () => RunKeeper | undefined): ToolExecutor => ({
  async execute(request, context) {
    const canAsk = keeperOf()?.operatorKey !== undefined;
    const questions = new Questions(context.run?.run.answers, { canAsk });
    try {
      return await next.execute(request, {
        ...context,
        canAsk,
        ask: (question) => questions.ask(question),
        begins: () => questions.begins(),
        handle: context.run?.run.handle?.text,
        noteHandle: (handle, isClaimed) => keepHandle(handle, isClaimed, { keeper: keeperOf(), request, context }),
      });
    } catch (error) {
      if (!(error instanceof AskedError)) throw error;
      const { question } = error;
      context.progress({ message: `awaiting an answer: ${request.toolCallId}` });
      if (context.run !== undefined) return context.run.question(question, QUESTION_MS);
      await parkCall(keeperOf(), request, context, { question, forMs: QUESTION_MS });
      return next.execute(request, context); // another delivery has taken it meanwhile
    }
  },
});

/** Has the record of a call keep what its tool goes on from. @returns false if no record takes it */
async function keepHandle(
  handle: string,
  isClaimed: boolean | undefined,
  {
    keeper,
    request,
    context,
  }: { readonly keeper: RunKeeper | undefined; readonly request: ToolInvokeRequest; readonly context: ToolContext },
): Promise<boolean> {
  if (handle.length > MAX_HANDLE_CHARS) return false;
  if (context.run !== undefined) return context.run.keep(handle);
  if (keeper === undefined || context.arrival === undefined) return false;
  try {
    const call = parkedCall(request, context, { forMs: DETACHED_MS });
    await keeper.park({ ...call, handle, isClaimed }, context.arrival);
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
  }
  return false;
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
  if (asking === undefined) return { forMs: DETACHED_MS };
  const { forMs, ...approval } = asking;
  return { approval, forMs };
}

/** Has a call join its record, where the claim layer has found that there is one. @throws what else was the matter */
async function orJoin(
  error: unknown,
  keeper: RunKeeper | undefined,
  request: ToolInvokeRequest,
  context: ToolContext,
): Promise<never> {
  if (!(error instanceof RecordedError)) throw error;
  if (keeper === undefined || context.arrival === undefined) throw error.otherwise;
  const joined = await keeper.join(parkedCall(request, context, { forMs: 0 }), context.arrival);
  throw joined === "conflict" ? conflict(request) : error.otherwise;
}

/** What the record of a call has of it. */
function parkedCall(
  request: ToolInvokeRequest,
  { caller, operator, deadline }: ToolContext,
  asked: Pick<ParkedCall, "approval" | "question" | "forMs">,
): ParkedCall {
  const { toolName, toolCallId } = request;
  const leftMs = Math.max(0, Math.floor(deadline - performance.now()));
  return { caller, operator, toolName, toolCallId, requestHash: hashRequest(request), leftMs, ...asked };
}

async function parkCall(
  keeper: RunKeeper | undefined,
  request: ToolInvokeRequest,
  context: ToolContext,
  asked: Pick<ParkedCall, "approval" | "question" | "forMs">,
): Promise<void> {
  const { toolName } = request;
  const { arrival } = context;
  const isUndecidable = asked.approval !== undefined && keeper?.operatorKey === undefined;
  if (keeper === undefined || arrival === undefined || isUndecidable) throw cannotWait(toolName);
  try {
    const parked = await keeper.park(parkedCall(request, context, asked), arrival);
    if (parked === "conflict") throw conflict(request);
    if (parked === "gone") throw recordGone(request);
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
