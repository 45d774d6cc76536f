import { defineConfig } from "vitest/config";
import { ClosingLineReporter } from "../run/closing-line-reporter.ts";

/**
 * What needs the room of the cluster's machine for itself, since pods of a higher priority would take that of its
 * scripts. It runs when others have ended.
 */
const SMALL = ["test/cluster/dev-profile.test.ts"];
/** What takes the room of the cluster's machine, or stops parts of the cluster: it runs when all else has ended. */
const ALONE = ["test/cluster/faults.test.ts"];

/**
 * Tests of a real cluster, run by test/cluster/run-cluster-tests.ts. Beside those written for it: those of pods, which
 * the tests of an imitation have too.
 */
export default defineConfig({
  test: {
    reporters: ["default", new ClosingLineReporter()],
    testTimeout: 240_000, // images may have to be pulled
    hookTimeout: 480_000,
    expect: { poll: { timeout: 60_000, interval: 200 } },
    projects: [
      {
        extends: true,
        test: {
          name: "cluster",
          include: [
            "test/cluster/**/*.test.ts",
            "test/scripts/{kubernetes-conformance,kubernetes-runner,packages-in-pods}.test.ts",
          ],
          exclude: [...SMALL, ...ALONE],
          maxWorkers: 2, // a small cluster has room for few pods at a time
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: "cluster small", include: SMALL, maxWorkers: 1, sequence: { groupOrder: 1 } } },
      { extends: true, test: { name: "cluster alone", include: ALONE, maxWorkers: 1, sequence: { groupOrder: 2 } } },
    ],
  },
});
