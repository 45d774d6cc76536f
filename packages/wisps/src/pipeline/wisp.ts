/** A pipeline as it runs. In texts of it `{{/steps/ID/…}}` stands for what a step has given. */
export interface Wisp {
  readonly description: string;
  /** As they were written. */
  readonly steps: readonly WispStep[];
  /** Text or data with references; undefined for the text of the last step that was written. */
  readonly result: unknown;
}

/** A part of a pipeline: a call, or a question to the model; with `forEach` one for each item. */
export interface WispStep {
  readonly id: string;
  /** Where it was written, for words about it. */
  readonly place: string;
  readonly work: WispCall | WispQuestion;
  /** What it waits for, besides what it refers to. */
  readonly after: readonly string[];
  readonly forEach?: { readonly items: unknown; readonly max: number } | undefined;
  readonly when?: WispCondition | undefined;
  /** Its failure ends the pipeline, unless it is of these. */
  readonly onError: "stop" | "continue";
  /** What it gives if it fails, all the same. */
  readonly fallback?: unknown;
}

/** A call of a tool. */
export interface WispCall {
  readonly kind: "call";
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A question to the model. */
export interface WispQuestion {
  readonly kind: "ask";
  readonly prompt: string;
}

/** What has to hold for a step to run. */
export interface WispCondition {
  readonly value: unknown;
  readonly is: "present" | "missing" | "equal" | "unequal" | "more" | "less" | "contains";
  readonly to?: unknown;
}

/** Calls and questions that one call of spawn_wisps may lead to. */
export const MAX_WISP_CALLS = 256;
/** Characters of what is put together from results: arguments of a call, a question, what comes out. */
export const MAX_WISP_CHARS = 512 * 1024;
/** Characters that all results of one call of spawn_wisps may have together. */
export const MAX_WISP_RESULTS = 8 * 1024 * 1024;
