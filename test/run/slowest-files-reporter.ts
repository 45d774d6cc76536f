import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

/** So many files are named, if they took longer than a second. */
const NAMED = 10;

/** Prints the files that took longest: where the time of a run goes. */
export class SlowestFilesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const timed = modules.map((module) => ({ name: relative(process.cwd(), module.moduleId), seconds: module.diagnostic().duration / 1_000 }));
    const slowest = timed
      .filter(({ seconds }) => seconds > 1)
      .sort((a, b) => b.seconds - a.seconds)
      .slice(0, NAMED);
    if (slowest.length < 2) return;
    const lines = slowest.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`);
    process.stdout.write(`\nThe slowest files of ${timed.length}:\n${lines.join("\n")}\n`);
  }
}
