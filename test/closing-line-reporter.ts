import type { Reporter, TestModule } from "vitest/node";

/** Ends a run's output with one line that people and scripts can read: `N passed, N failed`, and what was skipped. */
export class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state]++;
    }
    // A file that could not be loaded and an error outside any test have no test that fails.
    const failed = count.failed + count.pending + modules.filter((module) => module.errors().length > 0).length + errors.length;
    if (count.passed + failed === 0) process.exitCode = 1; // a run that tested nothing must not pass
    process.stdout.write(`\n${count.passed} passed, ${failed} failed${count.skipped > 0 ? `, ${count.skipped} skipped` : ""}\n`);
  }
}
