import { chmodSync } from "node:fs";
import { silentLogger } from "@rockbot/bus";
import {
  engineSocket,
  defaultSandboxLimits as limits,
  localWays,
  openLocalMaker,
  pooledRunner,
  type SandboxMaker,
  supervisorCommand,
  type Way,
} from "@rockbot/sandbox";
import { containerMaker } from "@rockbot/sandbox/container";
import {
  canRunContainers,
  hasBubblewrap,
  missingNamespaces,
  startPackageIndex,
  temporaryFolder,
  wheel,
} from "@rockbot/testing";
import { expect, test } from "vitest";
import { installerCommand, installerLimits } from "./installer/installer-command.ts";
import { pythonWithPip } from "./installer/test-installer-maker.ts";
import { openPackageStore } from "./package-store.ts";

const IMAGE = process.env["ROCKBOT_TEST_PYTHON_IMAGE"] ?? "python:3.12-slim";

interface Makers {
  readonly skipped: string | undefined;
  forScripts(packagesFolder: string): Promise<SandboxMaker>;
  forInstaller(): Promise<SandboxMaker>;
}

const container = { socketPath: engineSocket(process.env["DOCKER_HOST"]), image: IMAGE, timeoutMs: 60_000 };
const local = (way: Way) => ({ log: silentLogger, path: process.env["PATH"], python: pythonWithPip, ways: [way] });
const locally = (way: Way, skipped: string | undefined): Makers => ({
  skipped: skipped ?? (pythonWithPip === undefined ? "there is no Python with pip" : undefined),
  forScripts: (packagesFolder) => openLocalMaker({ ...local(way), packagesFolder }),
  forInstaller: () => openLocalMaker({ ...local(way), command: installerCommand, limits: installerLimits }),
});

const noNamespaces = missingNamespaces();
const makers: Readonly<Record<string, Makers>> = {
  "a container": {
    skipped: (await canRunContainers(IMAGE)) ? undefined : `no container engine with the image ${IMAGE} answers`,
    forScripts: async (packagesSource) =>
      containerMaker({ ...container, command: supervisorCommand("python3", limits), limits, packagesSource }),
    forInstaller: async () =>
      containerMaker({ ...container, command: installerCommand("python3"), limits: installerLimits }),
  },
  "a sandbox of bubblewrap": locally(
    localWays.bubblewrap,
    noNamespaces ?? ((await hasBubblewrap()) ? undefined : "bubblewrap is not installed, and cannot be"),
  ),
  "a sandbox of unshare": locally(localWays.unshare, noNamespaces),
};

for (const [where, { skipped, forScripts, forInstaller }] of Object.entries(makers)) {
  const name = `packages are installed in ${where} without a network, and a script in another one imports them`;
  test.runIf(skipped === undefined)(
    skipped === undefined ? name : `${name} (skipped: ${skipped})`,
    { timeout: 240_000 },
    async () => {
      using folder = temporaryFolder();
      chmodSync(folder.path, 0o755); // scripts have another user
      const signal = AbortSignal.timeout(200_000);
      await using index = await startPackageIndex([
        wheel("shapes", "1.0", { needs: ["colors"] }),
        wheel("colors", "2.5"),
      ]);
      await using maker = await forInstaller();
      const store = await openPackageStore({
        maker,
        environment: where,
        folder: folder.path,
        indexUrl: index.url,
        allow: ["*"],
        deny: [],
      });
      await using runner = pooledRunner(await forScripts(folder.path), {
        floor: 1,
        ceiling: 2,
        idleMs: 60_000,
        keepBytes: 10_000,
        log: silentLogger,
      });

      const packages = await store.ensure(["shapes"], { signal });
      const script = "import shapes, colors; print(shapes.version, colors.version)";
      const outcome = await runner.run(
        { id: "0".repeat(32), script, timeoutMs: 30_000, packages },
        { signal, deadline: performance.now() + 120_000 },
      );
      expect(outcome).toMatchObject({ stdout: "1.0 2.5\n", stderr: "", exitCode: 0 });
    },
  );
}
