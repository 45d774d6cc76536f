import type { ToolInvokeRequest } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import { MAX_HANDLE_CHARS, QUESTION_MS, RUN_MS } from "@rockbot/runs";
import type { ToolContext, ToolExecutor } from "../define/tool-executor.ts";
import { parkCall, parkedCall } from "./park-call.ts";
import { AskedError, Questions } from "./questions.ts";
import type { RunKeeper } from "./run-keeper.ts";

/** Has the calls of a tool ask people. One that asks ends here, and its record waits for the answer. */
export const asking = (next: ToolExecutor, keeperOf: () => RunKeeper | undefined): ToolExecutor => ({
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
    const call = parkedCall(request, context, { forMs: RUN_MS });
    await keeper.park({ ...call, handle, isClaimed }, context.arrival);
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
  }
  return false;
}
