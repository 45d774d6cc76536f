import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { ClosingLineReporter } from "./test/closing-line-reporter.ts";
import { SlowestFilesReporter } from "./test/slowest-files-reporter.ts";
import { SystemTestsFirst } from "./test/system-tests-first.ts";

const everything = ["packages/**/*.test.ts", "services/**/*.test.ts", "scripts/**/*.test.ts", "test/**/*.test.ts"];
const never = ["**/node_modules/**", "**/dist/**"];
const together = [
  "packages/{base,bus,contracts,edge,policy,process}/**/*.test.ts",
  "packages/mcp/src/{for-agents,schema,text,trust}/**/*.test.ts",
  "services/gateway/**/*.test.ts",
  "services/web-tools/src/page/**/*.test.ts",
];

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: "alone", include: everything, exclude: [...never, ...together] } },
      // Tests that start nothing, and leave nothing behind in their process: many files share one, and its modules.
      { extends: true, test: { name: "together", include: together, exclude: never, isolate: false } },
    ],
    globalSetup: ["test/setup-broker.ts"],
    reporters: ["default", new SlowestFilesReporter(), new ClosingLineReporter()],
    maxWorkers: 2 * availableParallelism() + 2, // most of what tests do is wait, for processes, brokers and deadlines
    sequence: { sequencer: SystemTestsFirst },
    // Programs that tests start find their code compiled: half of what the start of a command costs.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/node-programs") },
    testTimeout: 60_000, // ends what hangs: a busy machine may take many seconds to start the processes of a test
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } }, // the default, 1 s, is less than a busy machine may take for one step of a process
  },
});
