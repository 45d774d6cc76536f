import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultSandboxLimits, type SandboxLimits, type ScriptRunner } from "@rockbot/sandbox";
import { testScriptRunner } from "@rockbot/sandbox/conformance";
import { temporaryFolder } from "@rockbot/testing";
import { afterAll } from "vitest";
import { hasLandlock } from "./has-landlock.ts";
import { noCluster, noOwnCluster, openScriptsCluster, REAL_PROCESSORS, RUNNER_KEEPS_BYTES } from "./scripts-cluster.ts";

const limits: SandboxLimits = {
  ...defaultSandboxLimits,
  memoryBytes: (noOwnCluster.isSo ? 192 : 128) * 1024 * 1024, // a real one counts what the kernel has for processes, too
  processes: 24,
  storageBytes: 24 * 1024 * 1024,
  processors: noOwnCluster.isSo ? REAL_PROCESSORS : 1,
};

const packages = temporaryFolder();
afterAll(() => packages[Symbol.dispose]());
mkdirSync(join(packages.path, "layer"));
writeFileSync(join(packages.path, "layer", "layered.py"), "def answer(): return 42\n");

/** Makes a runner with a cluster, or a namespace, of its own. */
async function makeRunner(): Promise<ScriptRunner> {
  await using opening = new AsyncDisposableStack();
  const cluster = opening.use(await openScriptsCluster());
  const runner = opening.use(
    cluster.runner({
      ceiling: 4,
      limits,
      ...(hasLandlock ? { packages: { folder: packages.path, maxBytes: 16 * 1024 * 1024 } } : {}),
    }),
  );
  const opened = opening.move();
  return {
    kind: runner.kind,
    isResumable: runner.isResumable,
    carriesFiles: runner.carriesFiles,
    run: (job, options) => runner.run(job, options),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

testScriptRunner("scripts in pods", makeRunner, {
  keepBytes: RUNNER_KEEPS_BYTES,
  limits,
  ...(hasLandlock ? { packages: { key: "layer", pinned: [] } } : {}), // without it pods with packages have one more place to write
  hasInterface: noOwnCluster.isSo,
  carriesFiles: true,
  boundsFiles: false, // a pod cannot ask for that
  ...(noCluster.isSo ? { skipped: noCluster.why } : {}),
});
