/**
 * `npm run test:cluster -- [--quick] [FILE…]`: the tests of a real cluster, against the kubeconfig that ROCKBOT_TEST_KUBECONFIG names. Without one it says so and ends
 * with exit code 0. `--quick`: the part that a check of each change has the time for.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";

const QUICK = ["test/cluster/harness.test.ts", "test/cluster/admission.test.ts"];

const kubeconfig = process.env["ROCKBOT_TEST_KUBECONFIG"] ?? "";
if (kubeconfig === "") {
  console.log("Cluster tests: not run, as ROCKBOT_TEST_KUBECONFIG names no kubeconfig of a cluster that tests may use.");
} else if (!existsSync(kubeconfig)) {
  console.error(`Cluster tests: ROCKBOT_TEST_KUBECONFIG names ${kubeconfig}, which is not there.`);
  process.exitCode = 1;
} else {
  const args = process.argv.slice(2).flatMap((arg) => (arg === "--quick" ? QUICK : [arg]));
  const tests = spawn("vitest", ["run", "--config", "vitest.cluster.config.ts", ...args], { stdio: "inherit" });
  tests.on("error", (error) => {
    console.error(`Cluster tests: cannot run vitest: ${error.message}`);
    process.exitCode = 1;
  });
  tests.on("exit", (code) => {
    process.exitCode = code ?? 1;
  });
}
