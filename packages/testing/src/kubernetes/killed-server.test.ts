import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { whyNoPods } from "./kubelet/isolation.ts";

const why = whyNoPods();

/** Runs an API server with one pod, says so, and waits. */
const program = (marker: string): string => `
  import { request } from "node:https";
  import { startKubernetesApi } from ${JSON.stringify(join(import.meta.dirname, "start-kubernetes-api.ts"))};
  import { testPod } from ${JSON.stringify(join(import.meta.dirname, "test-pod.ts"))};
  const { connection } = await startKubernetesApi();
  const code = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', '${marker}'], start_new_session=True).wait()";
  const pod = testPod("one", ["python3", "-c", code, "${marker}"]);
  const headers = { authorization: "Bearer " + connection.token, "content-type": "application/json" };
  request(connection.server + "/api/v1/namespaces/default/pods", { method: "POST", ca: connection.certificate, headers }).end(JSON.stringify(pod));
  console.log("started");
`;

/** How many Pythons of the machine have a word as their last argument. */
function countOf(marker: string): number {
  return globSync("/proc/[0-9]*/cmdline").filter((file) => {
    try {
      return existsSync(file) && isPythonWith(marker, readFileSync(file, "utf8").split("\0"));
    } catch {
      return false; // it has ended
    }
  }).length;
}

/** What puts a container apart has its command's last argument too, but is no Python. */
const isPythonWith = (marker: string, [program = "", ...args]: readonly string[]): boolean =>
  /(^|\/)python3[^/]*$/.test(program) && args.at(-2) === marker;

async function until(isSo: () => boolean): Promise<void> {
  for (let left = 300; left > 0 && !isSo(); left--) await sleep(50);
}

test.skipIf(why !== undefined)(
  `no process of a pod is left when the server's is killed${why === undefined ? "" : ` (skipped: ${why})`}`,
  async () => {
    const marker = `pod-of-${process.pid}-${Date.now()}`;
    const server = spawn(process.execPath, ["--input-type=module", "--eval", program(marker)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void server.kill("SIGKILL"));
    await once(server.stdout, "data");
    await until(() => countOf(marker) === 2); // the container's first process, and its child
    expect(countOf(marker)).toBe(2);

    server.kill("SIGKILL");
    await until(() => countOf(marker) === 0);
    expect(countOf(marker)).toBe(0);
  },
  60_000,
);
