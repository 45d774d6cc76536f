import { readTtlMs } from "@rockbot/contracts";
import { must } from "./breach.ts";
import { Callee, type CalleeOptions } from "./callee.ts";
import type { Case, CaseResult } from "./case.ts";
import { callCases, MAX_BUDGET_MS } from "./cases/calls.ts";
import { ANSWER_MS, START_MS, until } from "./examiner.ts";
import { type ConformanceOptions, tryCase } from "./run-conformance.ts";

const presence: Case<Callee> = {
  name: "the caller calls the tool",
  clause: "caller-request",
  run: ({ calls, options: { tool } }) => must(calls.length > 0, `no request for the tool "${tool}" came`),
};

/**
 * Offers a tool, waits for a caller's four calls, and tries the caller for what they show.
 * @throws {Error} if the broker cannot be reached
 */
export async function runCallerConformance(
  options: CalleeOptions & Pick<ConformanceOptions, "onResult">,
): Promise<readonly CaseResult[]> {
  await using callee = await Callee.open(options);
  const { calls } = callee;
  await options.process?.start();
  for (let count = -1; calls.length < 4 && calls.length > count; ) {
    count = calls.length;
    const isNews = (): boolean => calls.length > count || options.process?.howEnded?.() !== undefined;
    const budgetMs = readTtlMs(calls[2]?.message.properties["expiration"]) ?? 0;
    const waitMs = count === 3 ? Math.min(budgetMs, MAX_BUDGET_MS) + ANSWER_MS : START_MS;
    await until(isNews, waitMs);
  }
  await until(() => calls.every(({ isHeard }, number) => number === 2 || isHeard !== undefined), ANSWER_MS / 10);
  const results: CaseResult[] = [];
  for (const one of calls.length === 0 ? [presence] : [presence, ...callCases]) {
    const result = await tryCase(callee, one);
    results.push(result);
    options.onResult?.(result);
  }
  return results;
}
