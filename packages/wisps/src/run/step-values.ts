import { type Taint, taintBy, trustIn } from "@rockbot/agent/plugin";
import { canonicalJson, type PartFailures, parseData, trustOfAll, valueAt } from "@rockbot/contracts";
import type { Reference } from "../pipeline/reference.ts";
import type { WispCondition } from "../pipeline/wisp.ts";
import { type WispCategory, WispFault } from "./wisp-fault.ts";

/** Whose words all of them together are. */
export const taintOf = (all: readonly Taint[]): Taint => taintBy(trustOfAll(all.map(trustIn)));

/** What became of a step, and whether strangers had a part in it, or in what it waited for. */
export interface StepEnd extends Taint {
  readonly state: "ok" | "failed" | "skipped" | "not_run";
  /** Its result, if it has one: also of a step that failed and has a fallback. */
  readonly value?: { readonly text: string; readonly data: unknown } | undefined;
  readonly error?: string | undefined;
  readonly category?: WispCategory | undefined;
  readonly calls: number;
  /** Why its items failed; of a step that goes on without them, too. */
  readonly errors?: readonly ItemError[] | undefined;
  /** The same in short. */
  readonly failures?: PartFailures | undefined;
}

/** Why an item failed. Without `for_each` there is one, with the number 0. */
export interface ItemError {
  readonly index: number;
  readonly error: string;
}

/** One item of a list, and which it is. */
export interface StepItem {
  readonly value: unknown;
  readonly index: number;
}

/** What references stand for in one step. */
export class StepValues {
  readonly #ends: ReadonlyMap<string, StepEnd>;
  readonly #input: unknown;
  readonly #item: StepItem | undefined;

  constructor(ends: ReadonlyMap<string, StepEnd>, input: unknown, item?: StepItem) {
    this.#ends = ends;
    this.#input = input;
    this.#item = item;
  }

  /** @throws {WispFault} if the reference leads nowhere */
  readonly of = (reference: Reference): unknown => {
    const value = this.#find(reference);
    if (value !== undefined) return value;
    throw new WispFault("Data", `{{${reference.pointer}}} leads nowhere: ${this.#shape(reference)}`);
  };

  /** The same, and null if it leads nowhere. */
  readonly orNull = (reference: Reference): unknown => this.#find(reference) ?? null;

  #find(reference: Reference): unknown {
    const whole = this.#whole(reference);
    return reference.path === "" ? whole : valueAt(whole, reference.path);
  }

  #whole({ root, step = "", field }: Reference): unknown {
    if (root === "input") return this.#input;
    if (root === "item") return this.#item?.value;
    if (root === "index") return this.#item?.index;
    const end = this.#ends.get(step);
    if (field === "ok") return end?.state === "ok";
    if (field === "error") return end?.error ?? null;
    if (field === "errors") return end?.errors ?? [];
    return field === "text" ? end?.value?.text : end?.value?.data;
  }

  /** What there is instead, in a few words without a stranger's. */
  #shape(reference: Reference): string {
    const whole = this.#whole(reference);
    if (Array.isArray(whole)) return `there is a list of ${whole.length}`;
    if (typeof whole === "string") return `there is a text of ${whole.length} characters, which is not JSON`;
    return typeof whole === "object" && whole !== null
      ? "there is nothing of this name"
      : `there is ${whole === undefined ? "nothing" : `a ${typeof whole}`}`;
  }
}

/** A text as a value, if it is JSON; else itself. */
export function dataIn(text: string): unknown {
  if (!/^\s*[[{"\-\dtfn]/.test(text)) return text;
  const parsed = parseData(text);
  return parsed.ok ? parsed.value : text;
}

/** Tells whether a condition holds. @param value what is compared @param to with what */
export function holds({ is }: WispCondition, value: unknown, to: unknown): boolean {
  switch (is) {
    case "present":
      return isPresent(value);
    case "missing":
      return !isPresent(value);
    case "equal":
      return isSame(value, to);
    case "unequal":
      return !isSame(value, to);
    case "more":
      return isNumber(value) && isNumber(to) && Number(value) > Number(to);
    case "less":
      return isNumber(value) && isNumber(to) && Number(value) < Number(to);
    case "contains":
      return Array.isArray(value)
        ? value.some((item) => isSame(item, to))
        : typeof value === "string" && isPart(to) && value.includes(String(to));
  }
}

const isPresent = (value: unknown): boolean => {
  if (value === null || value === undefined || value === "" || value === false) return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
};

const isNumber = (value: unknown): boolean =>
  typeof value === "number" || (typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value)));

/** A value that a text can contain, as it is written. */
const isPart = (value: unknown): boolean =>
  typeof value === "string" ? value !== "" : typeof value === "number" || typeof value === "boolean";

/**
 * The order of properties says nothing. A number may be written as a text; of two texts each sign counts, as in
 * versions and long ids.
 */
const isSame = (a: unknown, b: unknown): boolean => {
  if (a === undefined || b === undefined) return a === b;
  if (canonicalJson(a) === canonicalJson(b)) return true;
  return (typeof a === "number" || typeof b === "number") && isNumber(a) && isNumber(b) && Number(a) === Number(b);
};
