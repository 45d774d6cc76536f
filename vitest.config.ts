import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { ClosingLineReporter } from "./test/run/closing-line-reporter.ts";
import { SlowestFilesReporter } from "./test/run/slowest-files-reporter.ts";
import { LONGEST, TestOrder } from "./test/run/test-order.ts";

const everything = ["packages/**/*.test.ts", "services/**/*.test.ts", "scripts/**/*.test.ts", "test/**/*.test.ts"];
/** Tests of `npm run test:cluster` and `npm run test:observability` have a configuration of their own. */
const never = ["**/node_modules/**", "**/dist/**", "test/cluster/**", "test/compose/**", "test/observability/**"];
/**
 * Tells whether a test fakes the clock: its process counts deadlines by that clock, and they would come late
 * afterwards.
 */
const fakesClock = (file: string): boolean =>
  /useFakeTimers\(\)|toFake: \[[^\]]*"performance"/.test(readFileSync(join(import.meta.dirname, file), "utf8"));
/** Tests of `npm run test:system`: many processes, faults, sandboxes, bundles, and what pages tell their readers to type. */
const system = globSync(
  [
    "test/!(agent|services|policy|search|knowledge|memory)/**/*.test.ts",
    "test/agent/families/**/*.test.ts",
    "packages/{cli,sandbox,testing}/**/*.test.ts",
    "services/{page-renderer,scripts-manager}/**/*.test.ts",
    "scripts/**/*.test.ts",
  ],
  { cwd: import.meta.dirname, exclude: never },
);
const isSystem: ReadonlySet<string> = new Set(system);
/**
 * Tests of rooms that change nothing of their process: many files share one process, and what that has imported. The
 * longest do not, since what shares a process comes last.
 */
const together = globSync(
  [
    "packages/!(sandbox|testing)/**/*.test.ts",
    "services/*/src/**/*.test.ts",
    "test/agent/*.test.ts",
    "test/services/!(bus-traces|gauges).test.ts",
  ],
  { cwd: import.meta.dirname, exclude: ["**/node_modules/**"] },
).filter((file) => !fakesClock(file) && !LONGEST.includes(file));

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: "alone", include: everything, exclude: [...never, ...together, ...system] } },
      {
        extends: true,
        test: {
          name: "together",
          include: together.filter((file) => !isSystem.has(file)),
          exclude: never,
          isolate: false,
        },
      },
      { extends: true, test: { name: "system", include: system, exclude: [...never, ...together] } },
      {
        extends: true,
        test: {
          name: "system-together",
          include: together.filter((file) => isSystem.has(file)),
          exclude: never,
          isolate: false,
        },
      },
    ],
    globalSetup: ["test/run/setup.ts"],
    setupFiles: ["test/run/count-processor-time.ts"],
    reporters: ["default", new SlowestFilesReporter(), new ClosingLineReporter()],
    maxWorkers: 2 * availableParallelism() + 2, // most of what tests do is wait, for processes, brokers and deadlines
    sequence: { sequencer: TestOrder },
    env: {
      // Programs that tests start find their code compiled: half of what the start of a command costs.
      NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/node-programs"),
      ROCKBOT_TEST_KUBECONFIG: "", // a real cluster is for `npm run test:cluster`
    },
    testTimeout: 60_000, // ends what hangs: a busy machine may take many seconds to start the processes of a test
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } }, // the default, 1 s, is less than a busy machine may take for one step of a process
  },
});
