import { silentLogger } from "@rockbot/bus";
import { expect, test } from "vitest";
import type { ToolExecutor } from "../define/tool-executor.ts";
import { heldTool } from "../test-tools.ts";
import { boundRunning } from "./bound-running.ts";

function boundedTool(concurrency: number) {
  const held = heldTool("hold");
  const stubborn: ToolExecutor = { execute: () => new Promise(() => {}) };
  const executor = boundRunning(concurrency)({
    execute: (request, context) => (context.caller === "stubborn" ? stubborn : held.tool.executor).execute(request, context),
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
