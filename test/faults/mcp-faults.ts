import { ToolError } from "@rockbot/contracts";
import type { ToolCaller } from "@rockbot/tools";
import { expect } from "vitest";
import type { SettledCall } from "./agent/settle-calls.ts";
import type { McpScene } from "./mcp-scene.ts";

/** What calls get whose fault ends by itself, and those of a server without faults. */
export const DEADLINE_MS = 20_000;

/** How a call may end that meets the fault; how long it is given, where it never ends by itself. */
export interface McpFault {
  readonly outcome: RegExp;
  readonly timeoutMs?: number;
}

/** Every call has ended as its fault lets it, in time. */
export function checkOutcomes(
  met: readonly (readonly [string, readonly SettledCall[]])[],
  faults: Readonly<Record<string, McpFault>>,
): void {
  for (const [name, calls] of met) {
    expect(
      calls.filter(({ outcome }) => !faults[name]?.outcome.test(outcome)).map(({ outcome }) => `${name}: ${outcome}`),
    ).toEqual([]);
    expect(calls.filter(({ isLate }) => isLate)).toEqual([]);
  }
}

/** Resolves once the server takes calls again. @throws {Error} if it does not */
export async function untilBack(caller: ToolCaller, server: string, tool = "echo"): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await caller.call(`${server}__${tool}`, {}, { timeoutMs: DEADLINE_MS });
      return;
    } catch (error) {
      if (tries >= 5 || !(error instanceof ToolError))
        throw new Error(`"${server}" did not come back`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, error.retryAfterMs ?? 500)); // as it says
    }
  }
}

/** How long calls of a server without faults take, one after the other. */
export async function durations({ caller }: McpScene, calls: number): Promise<number[]> {
  const taken: number[] = [];
  for (let i = 0; i < calls; i++) taken.push(await calmCall(caller, i));
  return taken;
}

/** The same, until the work has ended. */
export async function durationsWhile({ caller }: McpScene, work: Promise<unknown>): Promise<number[]> {
  let isOver = false;
  const ends = (): void => {
    isOver = true;
  };
  work.then(ends, ends);
  const taken: number[] = [];
  while (!isOver) taken.push(await calmCall(caller, taken.length));
  return taken;
}

/** A call of a server that has no faults. */
async function calmCall(caller: ToolCaller, n: number): Promise<number> {
  const start = performance.now();
  expect(await caller.call("calm__echo", { n }, { timeoutMs: DEADLINE_MS })).toMatchObject({ content: `{"n":${n}}` });
  return performance.now() - start;
}

/** The figures of the table. */
export function compared(idle: readonly number[], meanwhile: readonly number[]): Record<string, number> {
  const p99 = (times: readonly number[]) =>
    Math.round(times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN);
  return {
    "calls of another server": meanwhile.length,
    "its p99 ms idle": p99(idle),
    "p99 ms meanwhile": p99(meanwhile),
  };
}
