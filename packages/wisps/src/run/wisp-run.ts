import type { Taint } from "@rockbot/agent/plugin";
import { inOrder, waitsFor } from "../pipeline/step-order.ts";
import { asText, charsOf, fillTemplate } from "../pipeline/template.ts";
import { MAX_WISP_CHARS, type Wisp, type WispStep } from "../pipeline/wisp.ts";
import { StepRun, type StepRunParts } from "./step-run.ts";
import { type StepEnd, StepValues, taintOf } from "./step-values.ts";
import { type WispCategory, WispFault } from "./wisp-fault.ts";

export interface WispRunOptions extends StepRunParts {
  readonly wisp: Wisp;
  /** The id of what a step does for an item, the same whenever the pipeline is run. */
  readonly idOf: (step: string, index: number) => string;
  readonly onStep: (step: WispStep, end: StepEnd) => void;
}

/** What became of a pipeline. */
export interface WispEnd extends Taint {
  readonly ok: boolean;
  /** A text or data; null if it failed. */
  readonly result: unknown;
  readonly error?: string | undefined;
  readonly category?: WispCategory | undefined;
  /** The id of the step that ended it. */
  readonly failedStep?: string | undefined;
  readonly steps: ReadonlyMap<string, StepEnd>;
}

/**
 * Runs a pipeline that was checked: each step once those that it waits for have ended.
 * @throws what says that the call is over
 */
export async function runWisp({ wisp, idOf, onStep, ...parts }: WispRunOptions): Promise<WispEnd> {
  const ends = new Map<string, StepEnd>();
  const running = new Map<string, Promise<StepEnd>>();
  let failed: WispStep | undefined;
  const after = async (step: WispStep, before: readonly Promise<StepEnd>[]): Promise<StepEnd> => {
    const taint = taintOf([
      { isUntrusted: parts.untrustedFrom !== undefined, origin: parts.untrustedFrom },
      ...(await Promise.all(before)),
    ]);
    const run = new StepRun({
      ...parts,
      step,
      ends,
      taint,
      idOf: (index) => idOf(step.id, index),
      isOver: () => failed !== undefined,
    });
    const end = await run.run();
    ends.set(step.id, end);
    if (end.state === "failed" && step.onError === "stop") failed ??= step;
    onStep(step, end);
    return end;
  };
  for (const step of inOrder(wisp.steps).steps)
    running.set(
      step.id,
      after(
        step,
        waitsFor(step).flatMap((id) => running.get(id) ?? []),
      ),
    );
  const taint = taintOf(await Promise.all(running.values()));
  if (failed !== undefined) {
    const { error, category } = ends.get(failed.id) as StepEnd;
    return {
      ok: false,
      result: null,
      error: `the step "${failed.id}" failed: ${error}`,
      category,
      failedStep: failed.id,
      steps: ends,
      ...taint,
    };
  }
  return { ok: true, result: resultOf(wisp, ends, parts.input), steps: ends, ...taint };
}

function resultOf({ result, steps }: Wisp, ends: ReadonlyMap<string, StepEnd>, input: unknown): unknown {
  if (result === undefined) {
    const last = steps.findLast(({ id }) => ends.get(id)?.value !== undefined);
    return bounded(ends.get(last?.id ?? "")?.value?.text ?? null);
  }
  let chars = 0;
  const spend = (more: number): void => {
    chars += more;
    if (chars > MAX_WISP_CHARS) throw new WispFault("Data", "");
  };
  try {
    return bounded(fillTemplate(result, new StepValues(ends, input).orNull, spend));
  } catch (error) {
    if (!(error instanceof WispFault)) throw error;
    return `[the result would have more than ${MAX_WISP_CHARS} characters: read the outputs of the steps]`;
  }
}

function bounded(value: unknown): unknown {
  const left = charsOf(value) - MAX_WISP_CHARS;
  return left <= 0 ? value : `${asText(value).slice(0, MAX_WISP_CHARS)}\n[result truncated — ${left} chars omitted]`;
}
