import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { silentLogger } from "@rockbot/bus";
import { canRunContainers, temporaryFolder } from "@rockbot/testing";
import { afterAll } from "vitest";
import { testScriptRunner } from "../conformance/test-script-runner.ts";
import { pooledRunner } from "../pool/pooled-runner.ts";
import { supervisorCommand } from "../supervisor/supervisor-command.ts";
import { containerMaker } from "./container-maker.ts";
import { engineSocket } from "./engine-socket.ts";
import { IMAGE } from "./test-program.ts";

const limits = {
  memoryBytes: 128 * 1024 * 1024,
  processes: 32,
  storageBytes: 16 * 1024 * 1024,
  storageFiles: 1_000,
  processors: 1,
};
const keepBytes = 100_000;

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
chmodSync(folder.path, 0o755);
mkdirSync(join(folder.path, "layer"));
folder.write("layer/layered.py", "def answer(): return 42\n");

testScriptRunner(
  "in containers",
  async () => {
    const socketPath = engineSocket(process.env["DOCKER_HOST"]);
    const command = supervisorCommand("python3", limits);
    const packagesSource = folder.path;
    const maker = containerMaker({
      socketPath,
      image: IMAGE,
      owner: `test-${randomUUID()}`,
      command,
      limits,
      packagesSource,
      timeoutMs: 60_000,
    });
    return pooledRunner(maker, { floor: 1, ceiling: 4, idleMs: 60_000, keepBytes, log: silentLogger });
  },
  {
    limits,
    keepBytes,
    carriesFiles: true,
    lasts: true,
    packages: { key: "layer", pinned: ["layered==1.0"] },
    ...((await canRunContainers(IMAGE)) ? {} : { skipped: `no container engine with the image ${IMAGE} answers` }),
  },
);
