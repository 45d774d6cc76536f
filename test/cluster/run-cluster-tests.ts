/**
 * `npm run test:cluster -- [--quick] [FILE…]`: the tests of a real cluster, against the kubeconfig that
 * ROCKBOT_TEST_KUBECONFIG names. Without one it says so and ends with exit code 0. `--quick`: the part that a check of
 * each change has the time for.
 */
import { existsSync } from "node:fs";
import { runVitest } from "../run/run-vitest.ts";

const QUICK = ["test/cluster/harness.test.ts", "test/cluster/admission.test.ts"];

const kubeconfig = process.env["ROCKBOT_TEST_KUBECONFIG"] ?? "";
if (kubeconfig === "") {
  console.log(
    "Cluster tests: not run, as ROCKBOT_TEST_KUBECONFIG names no kubeconfig of a cluster that tests may use.",
  );
} else if (!existsSync(kubeconfig)) {
  console.error(`Cluster tests: ROCKBOT_TEST_KUBECONFIG names ${kubeconfig}, which is not there.`);
  process.exitCode = 1;
} else {
  const args = process.argv.slice(2).flatMap((arg) => (arg === "--quick" ? QUICK : [arg]));
  process.exitCode = await runVitest(["--config", "test/cluster/vitest.config.ts", ...args]);
}
