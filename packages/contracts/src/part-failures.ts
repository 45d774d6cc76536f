import type { PartFailures } from "./generated/types.ts";
import { ToolErrorCode } from "./tool-error.ts";

/** A part of a list that failed: which one, and why, in words that begin with the error's code. */
export interface PartFailure {
  readonly item: string;
  readonly error: string;
}

const MAX_REASONS = 3;
const MAX_REASON = 300;

/** The part of a list of outcomes that failed; undefined if none did. @param of how many outcomes the list has */
export function partFailures(failures: readonly PartFailure[], of: number): PartFailures | undefined {
  if (failures.length === 0) return undefined;
  const others = failures.filter(({ error }, index) => failures.findIndex((one) => one.error === error) === index);
  const first = others
    .slice(0, MAX_REASONS)
    .map(({ item, error }) => ({ item, error: error.slice(0, MAX_REASON).toWellFormed() }));
  const unknown = failures
    .filter(({ error }) => error.startsWith(`${ToolErrorCode.OutcomeUnknown}: `))
    .map(({ item }) => item);
  return { failed: failures.length, of, first, ...(unknown.length === 0 ? {} : { outcome_unknown: unknown }) };
}

/** The same in words. */
export function partFailuresText({ failed, of, first, outcome_unknown: unknown = [] }: PartFailures): string {
  const reasons = first.map(({ item, error }) => `${item}: ${error}`).join("; ");
  const perhaps =
    unknown.length === 0 ? "" : ` The outcome is unknown, so that it may have happened, of: ${unknown.join(", ")}.`;
  return `${failed} of ${of} failed. ${failed > first.length ? "The first reasons: " : ""}${reasons}${perhaps === "" ? "" : `.${perhaps}`}`;
}
