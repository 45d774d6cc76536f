import type { ContentTrust } from "./generated/types.ts";
import { ToolError } from "./tool-error.ts";

type Trust = NonNullable<ContentTrust>;

/** The schema of messages allows so much. The path of a file, and an encoded address, may be longer. */
const MAX_ORIGIN = 2048;

/**
 * The words of others as they say them now: results, errors, pages, files. They are fenced for a model, and mark its
 * turn.
 * @param origin where they were read
 */
export const saidBy = (origin: string): Trust => boundedTrust({ level: "untrusted", origin });

/**
 * The words by which others describe what they offer: definitions, instructions, cards. They are fenced, too.
 * @param isApproved whether an operator, or a lock file, has approved these very words. Else they mark the turn that
 * reads them
 */
export const definedBy = (origin: string, isApproved: boolean): Trust => ({
  ...saidBy(origin),
  ...(isApproved ? { isApproved } : {}),
});

/** True if a model that reads this has read untrusted content. */
export const marks = (trust: ContentTrust | undefined): boolean =>
  trust?.level === "untrusted" && trust.isApproved !== true;

/**
 * Whose words a text is that is made of several: the first that marks, else the first of others; undefined if all are
 * our own.
 */
export function trustOfAll(all: readonly (ContentTrust | undefined)[]): Trust | undefined {
  return all.find(marks) ?? all.find((trust) => trust?.level === "untrusted") ?? undefined;
}

/** An error whose words are others' in part. */
export const withTrust = (error: ToolError, trust: ContentTrust | undefined): ToolError =>
  trust == null ? error : new ToolError(error.code, error.message, { ...error, cause: error, trust });

/** The same within the bounds of a message. */
export const boundedTrust = (trust: Trust): Trust => ({
  ...trust,
  origin: trust.origin.slice(0, MAX_ORIGIN).toWellFormed(),
});
