import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

/** So many files are named, if they took longer than a second. */
const NAMED = 10;

/**
 * Prints where the time of a run goes: the files that took longest, and those that took most of the processors, which
 * is what makes a whole run long. The brokers that files share, and vitest itself, count for no file.
 */
export class SlowestFilesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const named = modules.map((module) => ({ module, name: relative(process.cwd(), module.moduleId) }));
    print(
      `The slowest files of ${modules.length}`,
      named.map(({ module, name }) => [module.diagnostic().duration / 1_000, name]),
    );
    const used = named.map(({ module, name }): Timed => [module.meta().processorSeconds ?? 0, name]);
    const sum = used.reduce((seconds, [more]) => seconds + more, 0);
    print(`Most of the ${Math.round(sum)} s of processor time that the files took`, used);
  }
}

type Timed = readonly [seconds: number, name: string];

function print(title: string, files: readonly Timed[]): void {
  const most = files
    .filter(([seconds]) => seconds > 1)
    .sort(([a], [b]) => b - a)
    .slice(0, NAMED);
  if (most.length < 2) return;
  process.stdout.write(
    `\n${title}:\n${most.map(([seconds, name]) => `${seconds.toFixed(1).padStart(7)} s  ${name}\n`).join("")}`,
  );
}
