import { partFailuresText, type ToolSpawnWispsOutput } from "@rockbot/contracts";
import { asText } from "../pipeline/template.ts";
import type { Wisp, WispStep } from "../pipeline/wisp.ts";
import type { WispEnd } from "./wisp-run.ts";

/** A pipeline, what became of it, and how long it took. */
export interface RunWisp {
  readonly id: string;
  readonly wisp: Wisp;
  readonly end: WispEnd;
  readonly ms: number;
}

type WispResult = ToolSpawnWispsOutput["wisps"][number];

/** The longest preview of a pipeline that does not say what comes out of it. */
const MAX_PREVIEW = 2_000;
const MAX_DESCRIPTION = 200;

/** The key of a step's output in working memory. */
export const outputKey = (wispId: string, step: string): string => `wisp/${wispId}/${step}/output`;

/** The key of the summary of all pipelines of a call. */
export const summaryKey = (batchId: string): string => `wisp/${batchId}/summary`;

/** What came of a call, for the model: the lines that the .NET original writes, and below each what came out. */
export function reportText(
  batchId: string,
  runs: readonly RunWisp[],
  { ms, isKept }: { readonly ms: number; readonly isKept: boolean },
): string {
  const ok = runs.filter(({ end }) => end.ok).length;
  const partly = runs.filter((run) => run.end.ok && partsOf(run).length > 0).length;
  const counts = [
    `${ok - partly} succeeded`,
    ...(partly === 0 ? [] : [`${partly} succeeded in part`]),
    `${runs.length - ok} failed`,
  ];
  const count = `${runs.length} wisp(s) completed (${counts.join(", ")}, ${(ms / 1_000).toFixed(1)}s total):`;
  const kept = isKept
    ? [`Batch ID: \`${batchId}\``, `Batch summary: \`${summaryKey(batchId)}\``]
    : [`Batch ID: \`${batchId}\``, "Working memory took no outputs: it is full, or away."];
  return [count, "", ...runs.map((run) => lineOf(run, isKept)), "", ...kept].join("\n");
}

/**
 * What failed of a pipeline beside the step that ended it: steps that it went on without, and items that steps went on
 * without.
 */
export const partsOf = ({ wisp, end }: Pick<RunWisp, "wisp" | "end">): readonly string[] =>
  wisp.steps.flatMap((step) => partsOfStep(step, end));

function partsOfStep({ id }: WispStep, { steps, failedStep }: WispEnd): readonly string[] {
  const { state, error, failures } = steps.get(id) ?? {};
  if (state === "failed") return id === failedStep ? [] : [`  Step "${id}" failed: ${error}`];
  return failures === undefined ? [] : [`  Step "${id}": ${partFailuresText(failures)}`];
}

function lineOf({ id, wisp, end, ms }: RunWisp, isKept: boolean): string {
  const { ok, category, error, result } = end;
  const state = !ok ? "[failed]" : partsOf({ wisp, end }).length > 0 ? "[in part]" : "[ok]";
  const head = `- \`${id}\`: "${wisp.description.slice(0, MAX_DESCRIPTION)}" ${state} (${Math.round(ms)}ms)${ok ? "" : ` ${category}: ${error}`}`;
  const notes = wisp.steps.flatMap((step) => {
    const { state, error: why } = end.steps.get(step.id) ?? {};
    return state === "skipped" ? [`  Step "${step.id}" skipped: ${why}`] : partsOfStep(step, end);
  });
  return [
    head,
    ...notes,
    ...(ok ? [] : doneBefore({ id, wisp, end }, isKept)),
    ...(ok ? [`  Output: ${shown(asText(result), { id, wisp, isKept })}`] : []),
  ].join("\n");
}

/** Why a pipeline failed, and what it has done before. */
export function failureText({ id, wisp, end }: RunWisp, { isKept }: { readonly isKept: boolean }): string {
  return [
    `The wisp failed. ${end.category}: ${end.error}`,
    ...partsOf({ wisp, end }),
    ...doneBefore({ id, wisp, end }, isKept),
  ].join("\n");
}

function doneBefore({ id, wisp, end }: Omit<RunWisp, "ms">, isKept: boolean): readonly string[] {
  const done = wisp.steps.filter((step) => end.steps.get(step.id)?.value !== undefined);
  return done.length === 0 || !isKept
    ? []
    : [`  Done before: ${done.map((step) => `${step.id} (${outputKey(id, step.id)})`).join(", ")}`];
}

/** All of what a pipeline says that comes out; else the beginning. */
function shown(
  text: string,
  { id, wisp, isKept }: Pick<RunWisp, "id" | "wisp"> & { readonly isKept: boolean },
): string {
  if (wisp.result !== undefined || text.length <= MAX_PREVIEW) return text;
  const whole = isKept ? `; all of it: ${outputKey(id, wisp.steps.at(-1)?.id ?? "")}` : "";
  return `${text.slice(0, MAX_PREVIEW)}… (${text.length - MAX_PREVIEW} more characters${whole})`;
}

/** The same as a value. */
export function reportValue({ id, wisp, end }: RunWisp): WispResult {
  const { ok, result, category, error } = end;
  const steps = wisp.steps.map((step) => {
    const { state = "not_run", calls = 0, error: why, failures } = end.steps.get(step.id) ?? {};
    return {
      id: step.id,
      state,
      calls,
      ...(why === undefined ? {} : { error: why }),
      ...(failures === undefined ? {} : { failures }),
    };
  });
  return {
    wisp_id: id,
    description: wisp.description,
    ok,
    result: result as WispResult["result"],
    ...(category === undefined ? {} : { category }),
    ...(error === undefined ? {} : { error }),
    steps,
  };
}

/** The same with no more than the beginning of what came out. */
export function withPreview(of: WispResult): WispResult {
  const text = asText(of.result);
  return text.length <= MAX_PREVIEW
    ? of
    : { ...of, result: `${text.slice(0, MAX_PREVIEW)}…` as unknown as WispResult["result"] };
}
