import { timeoutError } from "@rockbot/contracts";
import type { ToolContext, ToolExecutor } from "../../define/tool-executor.ts";
import { inTime } from "../../layers/deadline.ts";
import { withCallingLayers, withDeadline } from "../../layers/layers.ts";
import type { HeldStation } from "../remote/held-station.ts";
import { ignoreProgress } from "../remote/remote-executor.ts";
import type { ResumedCalls } from "../resume-calls.ts";
import type { CallableTools } from "./callable-tools.ts";
import { notServed } from "./not-served.ts";

export interface FindingExecutorOptions {
  readonly tools: CallableTools;
  readonly resumed: ResumedCalls;
  readonly station: HeldStation;
}

/**
 * Finds a call's executor when the call is made, so that a tool that comes or goes meanwhile is judged as it is then.
 * It has the layers of the calling side.
 */
export function findingExecutor({ tools, resumed, station }: FindingExecutorOptions): ToolExecutor {
  /** A call of any kind, which may have to wait before: for its progress to be heard, or for its tool to be found. */
  const prepared: ToolExecutor = {
    async execute(request, context) {
      const { toolCallId, toolName } = request;
      const { signal, deadline, onSent } = context;
      const leftMs = deadline - performance.now();
      const late = (mayHaveRun: boolean) => () => timeoutError(`"${toolName}"`, { mayHaveRun });
      if (leftMs <= 0) throw late(false)();
      const before = resumed.open(toolCallId);
      if (before?.toolName === toolName) {
        onSent?.();
        resumed.repeat(request, context);
        return inTime(before.answer, { signal, leftMs, late: late(true) });
      }
      const executor = await inTime(find(request, context), { signal, leftMs, late: late(false) });
      // One of a service keeps the deadline itself, and knows more of a call that has no answer by then.
      return (executor === tools.remote(toolName) ? executor : withDeadline(executor)).execute(request, context);
    },
  };

  async function find(
    request: { readonly toolCallId: string; readonly toolName: string },
    { progress, caller }: ToolContext,
  ): Promise<ToolExecutor> {
    const { toolName } = request;
    const { registry, directory } = tools;
    if (progress !== ignoreProgress) await station.current.progress.listen(request, progress);
    if (registry.getExecutor(toolName) === undefined) await directory.lookFor(toolName);
    const executor = registry.getExecutor(toolName);
    if (executor === undefined) throw notServed(toolName, caller, tools);
    return executor;
  }

  return withCallingLayers({
    execute(request, context) {
      const { toolCallId, toolName } = request;
      const goesAtOnce = context.progress === ignoreProgress && !resumed.has(toolCallId);
      return ((goesAtOnce ? tools.remote(toolName) : undefined) ?? prepared).execute(request, context);
    },
  });
}
