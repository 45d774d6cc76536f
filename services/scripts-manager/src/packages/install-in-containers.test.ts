import { randomUUID } from "node:crypto";
import { chmodSync } from "node:fs";
import { silentLogger } from "@rockbot/bus";
import { canRunContainers, startPackageIndex, temporaryFolder, wheel } from "@rockbot/testing";
import { expect, test } from "vitest";
import { containerMaker } from "../container/container-maker.ts";
import { engineSocket } from "../container/engine-socket.ts";
import { pooledRunner } from "../pool/pooled-runner.ts";
import { defaultSandboxLimits } from "../sandbox/sandbox-limits.ts";
import { supervisorCommand } from "../sandbox/supervisor-command.ts";
import { installerCommand, installerLimits } from "./installer-command.ts";
import { openPackageStore } from "./package-store.ts";

const IMAGE = process.env["ROCKBOT_TEST_PYTHON_IMAGE"] ?? "python:3.12-slim";
const hasEngine = await canRunContainers(IMAGE);

// Without an engine there are no containers: what the store itself does is tested with plain processes.
test.runIf(hasEngine)("packages are installed in a container without a network, and scripts in others import them", { timeout: 240_000 }, async () => {
  using folder = temporaryFolder();
  chmodSync(folder.path, 0o755);
  const signal = AbortSignal.timeout(200_000);
  const common = { socketPath: engineSocket(process.env["DOCKER_HOST"]), image: IMAGE, owner: `test-${randomUUID()}`, timeoutMs: 60_000 };
  await using index = await startPackageIndex([wheel("shapes", "1.0", { needs: ["colors"] }), wheel("colors", "2.5")]);
  await using installers = containerMaker({ ...common, owner: `test-${randomUUID()}`, command: installerCommand("python3"), limits: installerLimits });
  const store = await openPackageStore({ maker: installers, environment: IMAGE, folder: folder.path, indexUrl: index.url, allow: ["*"], deny: [] });
  const command = supervisorCommand("python3", defaultSandboxLimits);
  await using maker = containerMaker({ ...common, command, limits: defaultSandboxLimits, packagesSource: folder.path });
  await using runner = pooledRunner(maker, { floor: 1, ceiling: 2, idleMs: 60_000, keepBytes: 10_000, log: silentLogger });

  const packages = await store.ensure(["shapes"], { signal });
  const script = "import shapes, colors; print(shapes.version, colors.version)";
  const job = { id: randomUUID().replaceAll("-", ""), script, timeoutMs: 30_000, packages };
  const outcome = await runner.run(job, { signal, deadline: performance.now() + 120_000 });
  expect(outcome).toMatchObject({ stdout: "1.0 2.5\n", stderr: "", exitCode: 0 });
});
