import { type InnerCalls, type ParentCall, type PromptPart, type Taint, trustIn } from "@rockbot/agent/plugin";
import type { Semaphore } from "@rockbot/base";
import { marks, type PartFailures, partFailures, partFailuresText, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { Model } from "@rockbot/llm";
import type { ToolContext } from "@rockbot/tools";
import { asText, charsOf, fillTemplate, readText, referencesIn } from "../pipeline/template.ts";
import { MAX_WISP_CHARS, type WispCall, type WispQuestion, type WispStep } from "../pipeline/wisp.ts";
import { dataIn, holds, type ItemError, type StepEnd, type StepItem, StepValues, taintOf } from "./step-values.ts";
import { categoryOf, type WispCategory, WispFault } from "./wisp-fault.ts";

/** The context of the call that a pipeline is part of. */
export type WispContext = ToolContext & { readonly signal: AbortSignal; readonly toolCallId: string };

/** What the steps of all pipelines of one call share. */
export interface StepRunParts {
  readonly calls: Pick<InnerCalls, "callKept" | "ask">;
  readonly context: WispContext;
  /** Bounds what runs at once. */
  readonly places: Semaphore;
  /** Receives the length of each result. @throws {WispFault} once there is too much */
  readonly keep: (chars: number) => void;
  /** Answers questions. @default the turn's */
  readonly model?: Model | undefined;
  /** What `/input` leads into. */
  readonly input?: unknown;
  /**
   * The author of instructions that were written after strangers' content was read: they are fenced. @default nobody's
   */
  readonly untrustedFrom?: string | undefined;
}

export interface StepRunOptions extends StepRunParts {
  readonly step: WispStep;
  readonly ends: ReadonlyMap<string, StepEnd>;
  /** The taint of everything that it waited for. */
  readonly taint: Taint;
  /** The id of what the step does for an item, the same whenever the pipeline is run. */
  readonly idOf: (index: number) => string;
  /** True if the pipeline has failed meanwhile. */
  readonly isOver: () => boolean;
}

/** What one call or question came to. */
type Done = Taint & { readonly errors?: readonly ItemError[]; readonly failures?: PartFailures | undefined } & (
    | { readonly ok: true; readonly text: string; readonly data: unknown }
    | { readonly ok: false; readonly error: string; readonly category: WispCategory }
  );
/** Undefined if the pipeline was over before. */
type Outcome = Done | undefined;

/** One run of one step, once all that it waits for has ended. */
export class StepRun {
  readonly #options: StepRunOptions;
  #count = 0;
  /** An item has failed, and that of the others is not to be done any more. */
  #hasFailed = false;

  constructor(options: StepRunOptions) {
    this.#options = options;
  }

  /** @throws what says that the call is over */
  async run(): Promise<StepEnd> {
    const { step, taint, isOver } = this.#options;
    const without = (state: "skipped" | "not_run", error?: string): StepEnd => ({
      state,
      error,
      calls: this.#count,
      ...taint,
    });
    if (isOver()) return without("not_run");
    try {
      if (!this.#conditionHolds()) return without("skipped", "its condition does not hold");
      const lacking = this.#lacking();
      if (lacking !== undefined) return without("skipped", `it needs the result of "${lacking}", which has none`);
      const outcome = step.forEach === undefined ? await this.#once() : await this.#each(this.#items());
      return outcome === undefined ? without("not_run") : this.#endOf(outcome);
    } catch (error) {
      if (error instanceof WispFault)
        return this.#endOf({ ok: false, error: error.message, category: error.category, ...taint });
      throw error;
    }
  }

  #endOf(outcome: Done): StepEnd {
    const { fallback } = this.#options.step;
    const {
      isUntrusted,
      isApproved,
      origin,
      failures,
      errors = outcome.ok ? [] : [{ index: 0, error: outcome.error }],
    } = outcome;
    const shared = { calls: this.#count, isUntrusted, isApproved, origin, errors, failures };
    if (outcome.ok) return { state: "ok", value: { text: outcome.text, data: outcome.data }, ...shared };
    const value = fallback === undefined ? undefined : { text: asText(fallback), data: fallback };
    return { state: "failed", value, error: outcome.error, category: outcome.category, ...shared };
  }

  #conditionHolds(): boolean {
    const { step, ends, input } = this.#options;
    const { when } = step;
    if (when === undefined) return true;
    const { orNull } = new StepValues(ends, input);
    return holds(when, fillTemplate(when.value, orNull, counter()), fillTemplate(when.to, orNull, counter()));
  }

  /** A step that it needs and that has no result. */
  #lacking(): string | undefined {
    const { step, ends } = this.#options;
    const template = [step.work.kind === "call" ? step.work.arguments : step.work.prompt, step.forEach?.items];
    const needed = referencesIn(template).filter(({ field }) => field === "data" || field === "text");
    return needed.find((reference) => ends.get(reference.step ?? "")?.value === undefined)?.step;
  }

  #items(): readonly unknown[] {
    const { step, ends, input } = this.#options;
    const { items, max = 0 } = step.forEach ?? {};
    const list = fillTemplate(items, new StepValues(ends, input).of, counter());
    if (!Array.isArray(list))
      throw new WispFault(
        "Data",
        `for_each has no list: ${asText(items).slice(0, 200)} is ${list === null ? "null" : `a ${typeof list}`}`,
      );
    if (list.length > max)
      throw new WispFault(
        "Data",
        `for_each has ${list.length} items, and max says at most ${max}. It ran for none of them`,
      );
    return list;
  }

  async #each(items: readonly unknown[]): Promise<Outcome> {
    const { step, taint } = this.#options;
    const outcomes = await Promise.all(items.map((value, index) => this.#once({ value, index })));
    const all = taintOf([taint, ...outcomes.filter((outcome) => outcome !== undefined)]);
    const errors = outcomes.flatMap((outcome, index) =>
      outcome?.ok === false ? [{ index, error: outcome.error }] : [],
    );
    const failures = partFailures(
      errors.map(({ index, error }) => ({ item: `item ${index}`, error })),
      items.length,
    );
    const failure = outcomes.find((outcome) => outcome?.ok === false);
    const isLost = step.onError === "stop" || outcomes.every((outcome) => outcome?.ok !== true);
    if (failure?.ok === false && failures !== undefined && isLost) {
      const error = errors.length === 1 ? `item ${errors[0]?.index}: ${failure.error}` : partFailuresText(failures);
      return { ok: false, error, category: failure.category, errors, failures, ...all };
    }
    if (outcomes.length > 0 && outcomes.every((outcome) => outcome === undefined)) return undefined;
    const data = outcomes.map((outcome) => (outcome?.ok ? outcome.data : (step.fallback ?? null)));
    return { ok: true, text: JSON.stringify(data), data, errors, failures, ...all };
  }

  async #once(item?: StepItem): Promise<Outcome> {
    const { step, places, context, isOver } = this.#options;
    using _place = await places.acquire(context.signal);
    if (isOver() || this.#hasFailed) return undefined;
    this.#count++;
    const outcome = await this.#work(item);
    this.#hasFailed ||= !outcome.ok && step.onError === "stop"; // before the place goes to the next item
    return outcome;
  }

  async #work(item: StepItem | undefined): Promise<Done> {
    const { step, keep, taint, idOf, ends, input } = this.#options;
    const { work } = step;
    const values = new StepValues(ends, input, item);
    const id = idOf(item?.index ?? 0);
    try {
      const done = work.kind === "call" ? await this.#call(work, id, values) : await this.#ask(work, id, values);
      if (done.ok) keep(done.text.length + (typeof done.data === "string" ? 0 : charsOf(done.data)));
      return { ...done, ...taintOf([taint, done]) };
    } catch (error) {
      if (!(error instanceof WispFault)) throw error;
      return { ok: false, error: error.message, category: error.category, ...taint };
    }
  }

  async #call({ tool, arguments: template }: WispCall, callId: string, values: StepValues): Promise<Done> {
    const { calls, context, taint } = this.#options;
    const args = JSON.stringify(fillTemplate(template, values.of, counter("arguments")));
    const mark = marks(trustIn(taint))
      ? { hasReadUntrusted: true, ...(taint.origin === undefined ? {} : { untrustedFrom: taint.origin }) }
      : {};
    const parent: ParentCall = { ...context, ...mark };
    const { content, structured, isError, isUntrusted, isApproved, origin } = await calls.callKept(
      { callId, name: tool, arguments: args },
      parent,
    );
    if (isError)
      return {
        ok: false,
        error: content.slice(0, MAX_ERROR),
        category: categoryOf(content),
        isUntrusted,
        isApproved,
        origin,
      };
    return { ok: true, text: content, data: structured ?? dataIn(content), isUntrusted, isApproved, origin };
  }

  async #ask({ prompt }: WispQuestion, id: string, values: StepValues): Promise<Done> {
    const { calls, context, taint, model, untrustedFrom } = this.#options;
    const spend = counter("the question");
    const part = (text: string, from: Taint): PromptPart => {
      spend(text.length);
      return { text, isUntrusted: from.isUntrusted, origin: from.origin };
    };
    const own: Taint = { isUntrusted: untrustedFrom !== undefined, origin: untrustedFrom };
    const parts = readText(prompt).parts.map((piece) =>
      typeof piece === "string" ? part(piece, own) : part(asText(values.of(piece)), taint),
    );
    try {
      const text = await calls.ask({ id, parts, model }, context);
      return { ok: true, text, data: dataIn(text), ...taintOf([own, taint]) };
    } catch (error) {
      if (!(error instanceof ToolError) || context.signal.aborted) throw error;
      const category = error.code === ToolErrorCode.ExecutionFailed ? "Judgment" : "External";
      return { ok: false, error: `${error.code}: ${error.message}`, category, ...taint };
    }
  }
}

const MAX_ERROR = 2_000;

/** Counts what comes together. It throws once that is too much, and before it is put together. */
function counter(what = "a value"): (chars: number) => void {
  let sum = 0;
  return (chars) => {
    sum += chars;
    if (sum > MAX_WISP_CHARS)
      throw new WispFault(
        "Data",
        `${what} would have more than ${MAX_WISP_CHARS} characters. Refer to a part of the results, such as /steps/ID/data/…`,
      );
  };
}
