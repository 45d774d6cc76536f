import { defineConfig } from "vitest/config";
import { ClosingLineReporter } from "../run/closing-line-reporter.ts";

/** Tests of docker-compose.yml on a real engine, run by test/compose/run-compose-tests.ts. */
export default defineConfig({
  test: {
    include: ["test/compose/**/*.test.ts"],
    reporters: ["default", new ClosingLineReporter()],
    maxWorkers: 1, // each file runs a system of twenty containers
    testTimeout: 300_000,
    hookTimeout: 1_800_000, // images are built
    expect: { poll: { timeout: 120_000, interval: 500 } },
  },
});
