import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import { closingLine, type FailedFile, RESULT_FILE, type RunResult } from "./run-result.ts";

/**
 * Ends a run's output with its {@link closingLine}, and notes how it ended where the environment names a file for it.
 */
export class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const result = resultOf(modules, errors);
    if (result.passed + result.failed === 0) process.exitCode = 1; // a run that tested nothing must not pass
    process.stdout.write(`\n${closingLine(result)}\n`);
    const path = process.env[RESULT_FILE];
    if (path !== undefined) writeFileSync(path, JSON.stringify(result));
  }
}

function resultOf(modules: readonly TestModule[], errors: readonly unknown[]): RunResult {
  const { passed, skipped, unended, ...rest } = countTests(modules);
  // A file that could not be loaded and an error outside any test have no test that fails.
  const failed = rest.failed + unended + modules.filter((module) => module.errors().length > 0).length + errors.length;
  const files = modules.filter(hasFailed).map(failedFile);
  const strayErrors = errors.filter((error) => !files.some(({ file }) => file === fileOf(error)));
  return { passed, failed, skipped, files, strayErrors: strayErrors.length };
}

/** The file that ran when an error came outside of its tests: of calls, say, that a test left behind when it failed. */
function fileOf(error: unknown): string | undefined {
  const path = (error as { readonly VITEST_TEST_PATH?: string } | null)?.VITEST_TEST_PATH;
  return path === undefined ? undefined : relative(process.cwd(), path);
}

function countTests(modules: readonly TestModule[]) {
  const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
  for (const module of modules) {
    for (const test of module.children.allTests()) count[test.result().state]++;
  }
  const { pending: unended, ...ended } = count;
  return { ...ended, unended };
}

/** A file whose tests have not all ended has failed, too. */
const hasFailed = (module: TestModule): boolean => !["passed", "skipped"].includes(module.state());

function failedFile(module: TestModule): FailedFile {
  const { passed, skipped } = countTests([module]);
  const failed = [...module.children.allTests()].filter((test) => !["passed", "skipped"].includes(test.result().state));
  return {
    file: relative(process.cwd(), module.moduleId),
    tests: failed.map(({ fullName }) => fullName),
    others: { passed, skipped },
  };
}
