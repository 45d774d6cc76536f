import { join } from "node:path";
import { silentLogger } from "@rockbot/bus";
import { loadConfig } from "@rockbot/process/config";
import {
  canRunContainers,
  hasBubblewrap,
  missingNamespaces,
  temporaryFolder,
  testCluster,
  wheel,
  whyNoFaults,
  whyNoPods,
  writeKubeconfig,
} from "@rockbot/testing";
import { expect, test } from "vitest";
import { createRunner, createRunnerPackages } from "./create-runner.ts";
import { configSchema, type ScriptsManagerConfig } from "./generated/config.ts";
import { pythonWithPip } from "./packages/installer/test-installer-maker.ts";
import { check } from "./settings.ts";

interface RunnerOfMachine {
  readonly isThere: boolean;
  /** What its settings need besides. */
  settings(): Promise<AsyncDisposable & { readonly env: Readonly<Record<string, string | undefined>> }>;
}

const plain = (env: Readonly<Record<string, string | undefined>>) => async () => ({
  env,
  async [Symbol.asyncDispose]() {},
});

async function clusterSettings(): ReturnType<RunnerOfMachine["settings"]> {
  await using opening = new AsyncDisposableStack();
  const { manager, namespace, podNames } = opening.use(await testCluster());
  const kubeconfig = opening.use(temporaryFolder()).write("kubeconfig", "");
  writeKubeconfig(kubeconfig, manager);
  const opened = opening.move();
  return {
    env: {
      KUBECONFIG_FILE: kubeconfig,
      KUBERNETES_NAMESPACE: namespace,
      KUBERNETES_SERVICE_ACCOUNT: podNames.serviceAccountName,
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const runners: Readonly<Record<ScriptsManagerConfig["runner"], RunnerOfMachine>> = {
  container: {
    isThere: await canRunContainers("python:3.12-slim"),
    settings: plain({ CONTAINER_SOCKET: process.env["DOCKER_HOST"] }),
  },
  local: {
    isThere: pythonWithPip !== undefined && missingNamespaces() === undefined && (await hasBubblewrap()),
    settings: plain({}),
  },
  kubernetes: {
    isThere: whyNoFaults() !== undefined || (pythonWithPip !== undefined && whyNoPods() === undefined),
    settings: clusterSettings,
  },
};

for (const [runner, { isThere, settings }] of Object.entries(runners)) {
  // A kind is skipped where the machine lacks its needs: an engine with the image, a cluster, or namespaces and a
  // Python with pip.
  test.runIf(isThere)(
    `the settings give the runner ${runner}, with packages from a folder of wheels`,
    { timeout: 240_000 },
    async () => {
      using folder = temporaryFolder();
      await using more = await settings();
      const { fileName, bytes } = wheel("colors", "2.5");
      folder.write(fileName, bytes);
      const env = {
        RUNNER: runner,
        PIP_WHEELS: folder.path,
        PACKAGES_FOLDER: join(folder.path, "packages"),
        ...more.env,
      };
      const config = loadConfig<ScriptsManagerConfig>(configSchema, { env, check: check });
      const options = { log: silentLogger, env: process.env, signal: AbortSignal.timeout(200_000) };
      await using packages = await createRunnerPackages(config, options);
      await using created = await createRunner(config, options);

      const layer = await packages?.ensure(["colors"], options);
      const job = {
        id: "0".repeat(32),
        script: "import colors; print(colors.version)",
        timeoutMs: 30_000,
        packages: layer,
      };
      expect(
        await created.runner.run(job, { signal: options.signal, deadline: performance.now() + 120_000 }),
      ).toMatchObject({ stdout: "2.5\n", stderr: "" });
    },
  );
}

test("a cluster that is not configured is a reason in words, as any that there can be no sandboxes", async () => {
  const config = loadConfig<ScriptsManagerConfig>(configSchema, {
    env: { RUNNER: "kubernetes", KUBECONFIG_FILE: "/nowhere/kubeconfig" },
  });

  await expect(createRunner(config, { log: silentLogger, env: {} })).rejects.toMatchObject({
    code: "unavailable",
    isRetryable: false,
    message: expect.stringMatching(/^Cannot run scripts: .*no such file/),
  });
});

test("so is a file for packages that is not there", async () => {
  const config = loadConfig<ScriptsManagerConfig>(configSchema, {
    env: { PIP_INDEX_URL: "https://index.test/simple", PIP_CERTIFICATES: "/nowhere/ca.pem" },
  });

  await expect(createRunnerPackages(config, { log: silentLogger, env: {} })).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringMatching(/^Cannot run scripts: .*no such file/),
  });
});

test("without an index or a folder of wheels there are no packages", async () => {
  const config = loadConfig<ScriptsManagerConfig>(configSchema, { env: {} });
  expect(await createRunnerPackages(config, { log: silentLogger, env: {} })).toBeUndefined();
});
