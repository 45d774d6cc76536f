import { defineConfig } from "vitest/config";
import { ClosingLineReporter } from "./test/closing-line-reporter.ts";

/** Tests of a real cluster, run by test/cluster/run-cluster-tests.ts. Beside those written for it: those of pods, which the tests of an imitation have too. */
export default defineConfig({
  test: {
    include: ["test/cluster/**/*.test.ts", "test/scripts/{kubernetes-conformance,kubernetes-runner,packages-in-pods}.test.ts"],
    reporters: ["default", new ClosingLineReporter()],
    maxWorkers: 2, // a small cluster has room for few pods at a time
    testTimeout: 240_000, // images may have to be pulled
    hookTimeout: 360_000,
    expect: { poll: { timeout: 60_000, interval: 200 } },
  },
});
