import { valueAt, visibleText } from "@rockbot/contracts";
import { withoutComments } from "./without-comments.ts";

/** A field of an answer on one line, as people see it; empty if it is no text. */
export function lineAt(value: unknown, pointer: string, maxLength = 300): string {
  const text = valueAt(value, pointer);
  if (typeof text !== "string") return "";
  return visibleText(text.slice(0, maxLength)).replaceAll(/\s+/g, " ").trim();
}

/** A whole number of an answer; 0 if it is none. */
export function countAt(value: unknown, pointer: string): number {
  const count = valueAt(value, pointer);
  return typeof count === "number" && Number.isSafeInteger(count) && count > 0 ? count : 0;
}

/** The elements of a list of an answer; none if it is no list. */
export function listAt(value: unknown, pointer: string): readonly unknown[] {
  const list = valueAt(value, pointer);
  return Array.isArray(list) ? list : [];
}

/**
 * Markdown that somebody wrote, without what GitHub does not show of it: comments of HTML outside code, and characters
 * without a sign.
 */
export function markdownAt(value: unknown, pointer: string): string {
  const text = valueAt(value, pointer);
  return typeof text === "string" ? withoutComments(visibleText(text)).trim() : "";
}

/** The name under which somebody is known there. Users who have left are all `ghost`. */
export const loginAt = (value: unknown, pointer: string): string => lineAt(value, `${pointer}/login`, 80) || "ghost";

/** `2026-01-31 12:00 UTC`. */
export function timeAt(value: unknown, pointer: string): string {
  const [, day, minute] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(lineAt(value, pointer, 40)) ?? [];
  return day === undefined ? "" : `${day} ${minute} UTC`;
}

/** `**Name:** value` for each that has a value, one a line. */
export const labelled = (lines: readonly (readonly [string, string])[]): string =>
  lines
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `**${name}:** ${value}`)
    .join("  \n");
