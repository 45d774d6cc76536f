import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { ClosingLineReporter } from "./test/closing-line-reporter.ts";

export default defineConfig({
  test: {
    include: ["packages/**/*.test.ts", "services/**/*.test.ts", "scripts/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    globalSetup: ["test/setup-broker.ts"],
    reporters: ["default", new ClosingLineReporter()],
    maxWorkers: Math.max(2, availableParallelism() - 1), // most of what a test does is wait, for brokers and deadlines
    testTimeout: 60_000, // ends what hangs: a busy machine may take many seconds to start the processes of a test
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } }, // the default, 1 s, is less than a busy machine may take for one step of a process
  },
});
