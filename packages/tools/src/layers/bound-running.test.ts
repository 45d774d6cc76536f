import { silentLogger } from "@rockbot/bus";
import { expect, test } from "vitest";
import type { ToolExecutor } from "../define/tool-executor.ts";
import { heldTool } from "../test-tools.ts";
import { boundRunning } from "./bound-running.ts";

function boundedTool(concurrency: number) {
  const held = heldTool("hold");
  const stubborn: ToolExecutor = { execute: () => new Promise(() => {}) };
  const executor = boundRunning({ concurrency, away: 1 })()({
    execute: (request, context) =>
      (context.caller === "stubborn" ? stubborn : held.tool.executor).execute(request, context),
  });
  const call = (caller: string, signal = new AbortController().signal) =>
    executor.execute(
      { toolCallId: caller, toolName: "hold", arguments: "{}", sessionId: null },
      { caller, signal, deadline: performance.now() + 60_000, progress: () => {}, log: silentLogger, input: {} },
    );
  return { held, call };
}

test("so many calls run at once, and callers that wait have their turns in rotation", async () => {
  const { held, call } = boundedTool(2);
  const calls = ["many", "many", "many", "many", "few"].map((caller) => call(caller));
  await expect.poll(() => held.running.map(({ caller }) => caller)).toEqual(["many", "many"]);
  for (const [i, next] of ["many", "few", "many"].entries()) {
    held.running[0]?.end();
    await expect.poll(() => held.count).toBe(3 + i);
    expect(held.running).toHaveLength(2);
    expect(held.running.at(-1)?.caller).toBe(next);
  }
  held.endAll();
  await Promise.all(calls);
});

test("a call that is given up while it waits does not run, and leaves no gap", async () => {
  const { held, call } = boundedTool(1);
  const first = call("a");
  await expect.poll(() => held.count).toBe(1);
  const gaveUp = new AbortController();
  const second = call("b", gaveUp.signal);
  const third = call("c");
  gaveUp.abort(new Error("given up"));
  await expect(second).rejects.toThrow("given up");
  held.endAll();
  await first;
  await expect.poll(() => held.running.map(({ caller }) => caller)).toEqual(["c"]);
  held.endAll();
  await third;
});

test("a tool that ignores its signal holds its turn no longer than that, whenever others came to wait", async () => {
  const { held, call } = boundedTool(1);
  const controllers = [new AbortController(), new AbortController()];
  for (const { signal } of controllers) void call("stubborn", signal);
  const waiting = call("a");
  for (const controller of controllers) controller.abort();
  await expect.poll(() => held.count).toBe(1);
  held.endAll();
  await waiting;
});

test("a turn of a signal that has ended before anybody waits is free", async () => {
  const { held, call } = boundedTool(1);
  const over = new AbortController();
  void call("stubborn", over.signal);
  over.abort();
  const next = call("a");
  await expect.poll(() => held.count).toBe(1);
  held.endAll();
  await next;
});

/** Calls that leave their place until `back` is resolved, and then run until `end`. */
function leavingCalls({ concurrency, away }: { readonly concurrency: number; readonly away: number }) {
  const log: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const gate = (name: string): PromiseWithResolvers<void> => {
    const known = gates.get(name) ?? Promise.withResolvers<void>();
    gates.set(name, known);
    return known;
  };
  const layer = boundRunning({ concurrency, away });
  const executor = layer({ leavesPlace: true })({
    async execute({ toolCallId, toolName }, { withoutPlace }) {
      log.push(`${toolCallId} runs`);
      await withoutPlace?.(() => gate(`${toolCallId} back`).promise);
      log.push(`${toolCallId} is back`);
      await gate(`${toolCallId} end`).promise;
      return { toolCallId, toolName, content: "done", isError: false };
    },
  });
  const call = (toolCallId: string, signal = new AbortController().signal) =>
    executor.execute(
      { toolCallId, toolName: "leave", arguments: "{}", sessionId: null },
      { caller: "a", signal, deadline: performance.now() + 60_000, progress: () => {}, log: silentLogger, input: {} },
    );
  return { log, gate, call };
}

test("a call that leaves its place lets another run, and takes a place again before it goes on", async () => {
  const { log, gate, call } = leavingCalls({ concurrency: 1, away: 2 });
  const calls = [call("first"), call("second")];
  await expect.poll(() => log).toEqual(["first runs", "second runs"]);
  gate("second back").resolve();
  await expect.poll(() => log.at(-1)).toBe("second is back");
  gate("first back").resolve();
  await new Promise(setImmediate);
  const third = call("third"); // behind the first
  expect(log).toHaveLength(3);
  gate("second end").resolve();
  await expect.poll(() => log.at(-1)).toBe("first is back");
  gate("first end").resolve();
  await expect.poll(() => log.at(-1)).toBe("third runs");
  for (const name of ["third back", "third end"]) gate(name).resolve();
  await Promise.all([...calls, third]);
});

test("so many calls are without their place at once, and one more waits with its own", async () => {
  const { log, gate, call } = leavingCalls({ concurrency: 1, away: 1 });
  const calls = ["first", "second", "third"].map((name) => call(name));
  await expect.poll(() => log).toEqual(["first runs", "second runs"]);
  await new Promise(setImmediate);
  expect(log).toHaveLength(2);
  for (const name of ["first", "second", "third"])
    for (const step of ["back", "end"]) gate(`${name} ${step}`).resolve();
  await Promise.all(calls);
});

test("a call that ends while it is without its place takes none again", async () => {
  const { log, gate, call } = leavingCalls({ concurrency: 1, away: 1 });
  const gone = new AbortController();
  const first = call("first", gone.signal);
  await expect.poll(() => log).toEqual(["first runs"]);
  gone.abort(new Error("gone"));
  for (const step of ["first back", "first end"]) gate(step).resolve();
  await first;
  void call("second");
  await expect.poll(() => log.at(-1)).toBe("second runs");
});
