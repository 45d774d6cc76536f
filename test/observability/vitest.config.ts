import { defineConfig } from "vitest/config";
import { ClosingLineReporter } from "../run/closing-line-reporter.ts";

/** Tests that need an installed Prometheus, run by `npm run test:observability`. They start all else themselves. */
export default defineConfig({
  test: {
    include: ["test/observability/**/*.test.ts"],
    reporters: ["default", new ClosingLineReporter()],
    maxWorkers: 1, // each starts a whole system
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 120_000, interval: 1_000 } },
  },
});
