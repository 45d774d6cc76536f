import { type AbortSource, LightAbort } from "@rockbot/base";
import { silentLogger } from "@rockbot/bus";
import { ToolError, textResponse } from "@rockbot/contracts";
import { expect, onTestFinished, test, vi } from "vitest";
import type { ToolContext, ToolExecutor } from "../define/tool-executor.ts";
import { deadline } from "./deadline.ts";

const inTime = deadline({ readOnly: false, idempotent: false });

const request = { toolCallId: "call-1", toolName: "echo", arguments: null, sessionId: null };

function context(more: Partial<ToolContext> = {}): ToolContext {
  return {
    signal: new AbortController().signal,
    deadline: performance.now() + 60_000,
    caller: "agent",
    progress: () => {},
    log: silentLogger,
    ...more,
  };
}

test.each<[string, ToolExecutor["execute"]]>([
  ["answers", async () => textResponse(request, "done")],
  ["fails", async () => Promise.reject(new ToolError("execution_failed", "no"))],
  [
    "throws before it returns a promise",
    () => {
      throw new ToolError("execution_failed", "no");
    },
  ],
])("once an executor %s nothing waits for the deadline", async (_what, execute) => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const [outcome] = await Promise.allSettled([inTime({ execute }).execute(request, context())]);
  if (outcome?.status === "rejected") expect(outcome.reason).toMatchObject({ code: "execution_failed" });
  // The one timer of all deadlines stops with its next tick if there is none.
  await expect.poll(() => vi.advanceTimersByTime(20).getTimerCount()).toBe(0);
});

test("a call that was cancelled, or whose time is over, does not start", async () => {
  const execute = vi.fn(async () => textResponse(request, "done"));
  const late = inTime({ execute }).execute(request, context({ deadline: performance.now() - 1 }));
  await expect(late).rejects.toMatchObject({ code: "timeout", details: { mayHaveRun: false } });
  const cancelled = inTime({ execute }).execute(
    request,
    context({ signal: AbortSignal.abort(new ToolError("cancelled", "not wanted")) }),
  );
  await expect(cancelled).rejects.toMatchObject({ code: "cancelled" });
  expect(execute).not.toHaveBeenCalled();
});

test("a call that is cancelled while it runs ends with the reason, and its tool is told", async () => {
  const caller = new AbortController();
  const told = Promise.withResolvers<unknown>();
  const execute: ToolExecutor["execute"] = (_request, { signal }) => {
    signal.addEventListener("abort", () => told.resolve(signal.reason));
    return new Promise(() => {});
  };
  const running = inTime({ execute }).execute(request, context({ signal: caller.signal }));
  const reason = new ToolError("cancelled", "not wanted");
  caller.abort(reason);
  await expect(running).rejects.toBe(reason);
  expect(await told.promise).toBe(reason);
});

test("what is inside has an AbortSignal, whatever aborts the call", async () => {
  const call = new LightAbort();
  const signals: AbortSource[] = [];
  const execute: ToolExecutor["execute"] = async (_request, { signal }) => {
    signals.push(signal);
    call.abort("enough");
    return textResponse(request, "done");
  };
  await expect(inTime({ execute }).execute(request, context({ signal: call }))).rejects.toBe("enough");
  expect(signals).toEqual([expect.any(AbortSignal)]);
  expect(signals[0]).toMatchObject({ aborted: true, reason: "enough" });
});

test.each([
  [{ readOnly: false, idempotent: false }, /had effects: find out before you make another call of it\.$/],
  [{ readOnly: true, idempotent: false }, /does no harm if it runs again\. Try again with a longer timeout/],
  [{ readOnly: false, idempotent: true }, /does no harm if it runs again/],
])("a call of a tool that is %j says at its deadline what a repeat would do", async (promises, words) => {
  const executor = deadline(promises)({ execute: () => new Promise(() => {}) });
  await expect(executor.execute(request, context({ deadline: performance.now() + 500 }))).rejects.toMatchObject({
    code: "timeout",
    isRetryable: true,
    message: expect.stringMatching(words),
    details: { mayHaveRun: true },
  });
});
