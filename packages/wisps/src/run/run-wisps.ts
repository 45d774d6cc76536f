import { hash } from "node:crypto";
import type { InnerCalls, Taint } from "@rockbot/agent/plugin";
import { createSemaphore } from "@rockbot/base";
import type { ToolSpawnWispsOutput } from "@rockbot/contracts";
import type { OwnedMemory } from "@rockbot/memory";
import { MAX_WISP_RESULTS, type Wisp } from "../pipeline/wisp.ts";
import type { StepRunParts, WispContext } from "./step-run.ts";
import { taintOf } from "./step-values.ts";
import { WispFault } from "./wisp-fault.ts";
import { outputKey, type RunWisp, reportValue, summaryKey, withPreview } from "./wisp-report.ts";
import { runWisp } from "./wisp-run.ts";

/** What pipelines of a session run with. */
export interface WispParts extends Pick<StepRunParts, "model" | "input" | "untrustedFrom"> {
  readonly calls: InnerCalls;
  /** Where outputs of steps go. */
  readonly memory: Pick<OwnedMemory, "set" | "setAll">;
  /** Calls and questions of one call that are out at once. */
  readonly maxParallel: number;
}

/** What a call keeps of its time, to tell what came of it: a twentieth, at most so much. */
const MAX_RESERVE_MS = 2_000;
const KEPT_MS = 60 * 60_000;
const KEPT_AFTER_SUCCESS_MS = 5 * 60_000;
const MAX_ORIGIN = 2_048;

/** What became of pipelines. */
export interface RunWisps extends Taint {
  readonly batchId: string;
  readonly runs: readonly RunWisp[];
  readonly structured: ToolSpawnWispsOutput;
  readonly ms: number;
  /** True if working memory holds the output of each step. */
  readonly isKept: boolean;
}

/**
 * Runs pipelines that were checked side by side. Ids follow from that of the call, so that one that is taken up finds
 * what was done.
 */
export async function runWisps(
  wisps: readonly Wisp[],
  context: WispContext,
  { calls, memory, maxParallel, ...parts }: WispParts,
): Promise<RunWisps> {
  const { toolCallId, progress } = context;
  const idOf = (...of: readonly (string | number)[]): string =>
    hash("sha256", JSON.stringify(["wisp", toolCallId, ...of]), "hex");
  const batchId = `batch-${idOf("batch").slice(0, 12)}`;
  const leftMs = context.deadline - performance.now();
  const shared: StepRunParts = {
    calls,
    context: { ...context, deadline: context.deadline - Math.min(MAX_RESERVE_MS, leftMs / 20) },
    places: createSemaphore(maxParallel),
    keep: keeper(),
    ...parts,
  };
  const total = wisps.reduce((sum, { steps }) => sum + steps.length, 0);
  let done = 0;
  const startedAt = performance.now();
  const runs = await Promise.all(
    wisps.map(async (wisp, index): Promise<RunWisp> => {
      const end = await runWisp({
        ...shared,
        wisp,
        idOf: (step, item) => idOf(index, step, item).slice(0, 32),
        onStep: ({ id }, { state }) =>
          progress({ progress: ++done, total, message: `Step ${id} of "${wisp.description.slice(0, 100)}": ${state}` }),
      });
      return { id: `wisp-${idOf(index).slice(0, 11)}`, wisp, end, ms: performance.now() - startedAt };
    }),
  );
  const taint = taintOf(runs.map(({ end }) => end));
  const structured = { batch_id: batchId, wisps: runs.map(reportValue) };
  const isKept = await keepOutputs(runs, {
    memory,
    batchId,
    structured,
    isUntrusted: taint.isUntrusted || context.hasReadUntrusted === true,
  });
  return { batchId, runs, structured, ms: performance.now() - startedAt, isKept, ...taint };
}

interface KeepingOutputs extends Pick<WispParts, "memory"> {
  readonly batchId: string;
  readonly structured: ToolSpawnWispsOutput;
  readonly isUntrusted: boolean;
}

/**
 * Puts the output of each step into working memory, for a model that wants to see more than its report.
 * @returns whether it is all there
 */
async function keepOutputs(
  runs: readonly RunWisp[],
  { memory, batchId, structured, isUntrusted }: KeepingOutputs,
): Promise<boolean> {
  const options = { category: "wisp", isUntrusted };
  try {
    for (const { id, wisp, end } of runs) {
      const entries = wisp.steps.flatMap(({ id: step }) => {
        const text = end.steps.get(step)?.value?.text;
        return text === undefined ? [] : [{ key: outputKey(id, step), value: text.toWellFormed() }];
      });
      const origin = end.origin === undefined ? {} : { origin: end.origin.slice(0, MAX_ORIGIN) };
      if (entries.length > 0)
        await memory.setAll(entries, { ...options, ...origin, ttlMs: end.ok ? KEPT_AFTER_SUCCESS_MS : KEPT_MS });
    }
    await memory.set(summaryKey(batchId), JSON.stringify({ ...structured, wisps: structured.wisps.map(withPreview) }), {
      ...options,
      ttlMs: KEPT_MS,
    });
    return true;
  } catch {
    return false; // what came of the call is in its result
  }
}

function keeper(): (chars: number) => void {
  let sum = 0;
  return (chars) => {
    sum += chars;
    if (sum > MAX_WISP_RESULTS)
      throw new WispFault(
        "Data",
        `all results of this call have more than ${MAX_WISP_RESULTS} characters together. It ran, and its result is lost. Ask for less at a time`,
      );
  };
}
