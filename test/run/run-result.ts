import { readFileSync } from "node:fs";

/** Names the file in which a run of tests notes its {@link RunResult} for the process that has started it. */
export const RESULT_FILE = "ROCKBOT_TEST_RESULT_FILE";

/** Numbers of tests. */
export interface TestCounts {
  readonly passed: number;
  /** The failures, with each file that failed as a whole, and each error outside of any test. */
  readonly failed: number;
  readonly skipped: number;
}

/** A file that failed. */
export interface FailedFile {
  /** From the folder of the run. */
  readonly file: string;
  /** The full names of the tests that failed; none if the file failed as a whole. */
  readonly tests: readonly string[];
  /** How many of its tests passed, and were skipped. */
  readonly others: { readonly passed: number; readonly skipped: number };
}

/** How a run of tests ended. */
export interface RunResult extends TestCounts {
  readonly files: readonly FailedFile[];
  /**
   * How many errors came outside of any test while no file of {@link files} ran: a second try of these says nothing of
   * them.
   */
  readonly strayErrors: number;
}

/** @returns undefined if the run did not get as far as to note it */
export function readRunResult(path: string): RunResult | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as RunResult;
  } catch {
    return undefined;
  }
}

/** One line that people and scripts can read. */
export const closingLine = ({ passed, failed, skipped }: TestCounts): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
