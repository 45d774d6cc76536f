import { spawn } from "node:child_process";
import { describe, expect, onTestFinished, test } from "vitest";
import { kubernetesTool } from "../machine/kubernetes-tools.ts";
import { run } from "../machine/run.ts";
import { temporaryFolder } from "../machine/temporary-folder.ts";
import { MANAGER_ACCOUNT, RELEASE_NAMESPACE, scriptsManifests } from "./chart.ts";
import { type ClusterConnection, writeKubeconfig } from "./cluster-connection.ts";
import { whyNoPods } from "./kubelet/isolation.ts";
import { type KubernetesApi, startKubernetesApi } from "./start-kubernetes-api.ts";
import type { Pod } from "./store/objects.ts";
import { testPod } from "./test-pod.ts";

const NAMESPACE = "rockbot-scripts";
const found = await kubernetesTool("kubectl");
const program = "program" in found ? found.program : "";
const why = "why" in found ? found.why : whyNoPods();

/** kubectl as somebody, in a namespace. */
function kubectlFor(
  connection: ClusterConnection,
  namespace = NAMESPACE,
): { readonly args: readonly string[]; run(...args: readonly string[]): Promise<string> } {
  const folder = temporaryFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  const file = `${folder.path}/config`;
  writeKubeconfig(file, connection, namespace);
  const common = ["--kubeconfig", file, "--cache-dir", `${folder.path}/cache`];
  return { args: common, run: (...args) => run(program, [...common, ...args], { timeoutMs: 30_000 }) };
}

const started = (): Promise<KubernetesApi> => startKubernetesApi({ manifests: scriptsManifests(NAMESPACE) });

function create(api: KubernetesApi, pod: Pod): Promise<string> {
  const folder = temporaryFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  return kubectlFor(api.admin).run("create", "--validate=false", "--filename", folder.write("pod.json", pod));
}

describe.skipIf(why !== undefined)(
  `kubectl on the test API server${why === undefined ? "" : ` (skipped: ${why})`}`,
  () => {
    test("lists pods, reads one, waits for it, reads its log and deletes it", async () => {
      await using api = await started();
      const kubectl = kubectlFor(api.admin);
      await create(
        api,
        testPod("one", { command: ["python3", "-c", "print('hello'); print('there')"], labels: { color: "red" } }),
      );
      await create(api, testPod("two", { command: ["python3", "-c", "import time; time.sleep(600)"] }));
      await kubectl.run("wait", "pod/one", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=20s");
      await kubectl.run("wait", "pod/two", "--for=condition=Ready", "--timeout=20s");

      const table = await kubectl.run("get", "pods");
      expect(table).toMatch(
        /^NAME\s+READY\s+STATUS\s+RESTARTS\s+AGE\s*\none\s+0\/1\s+Completed\s+0\s+\d+s\s*\ntwo\s+1\/1\s+Running\s+0\s+\d+s\s*\n$/,
      );
      expect(await kubectl.run("get", "pods", "--output", "wide")).toContain("node-1");
      expect(await kubectl.run("get", "pods", "--selector", "color=red", "--output", "name")).toBe("pod/one\n");
      expect(JSON.parse(await kubectl.run("get", "pod", "one", "--output", "json"))).toMatchObject({
        kind: "Pod",
        status: { phase: "Succeeded" },
      });
      expect(await kubectl.run("logs", "one")).toBe("hello\nthere\n");
      expect(await kubectl.run("logs", "one", "--tail=1")).toBe("there\n");

      expect(await kubectl.run("delete", "pod", "one", "two", "--timeout=20s")).toContain('pod "two" deleted');
      expect(api.list("pods", NAMESPACE)).toEqual([]);
      await expect(kubectl.run("get", "pod", "one")).rejects.toThrow('pods "one" not found');
    });

    test("follows a log until the pod ends", async () => {
      await using api = await started();
      const kubectl = kubectlFor(api.admin);
      const script = "import time\nprint('first', flush=True)\ntime.sleep(1)\nprint('last', flush=True)";
      await create(api, testPod("one", { command: ["python3", "-c", script] }));
      await kubectl.run("wait", "pod/one", "--for=condition=Ready", "--timeout=20s");

      expect(await kubectl.run("logs", "--follow", "one")).toBe("first\nlast\n");
    });

    test("watches pods as they change", async () => {
      await using api = await started();
      const watching = spawn(program, [...kubectlFor(api.admin).args, "get", "pods", "--watch", "--output", "name"], {
        stdio: ["ignore", "pipe", "pipe"],
      });
      onTestFinished(() => void watching.kill("SIGKILL"));
      const said = { output: "", errors: "" };
      watching.stdout.on("data", (chunk: Buffer) => (said.output += chunk));
      watching.stderr.on("data", (chunk: Buffer) => (said.errors += chunk));
      await create(api, testPod("one"));

      await expect.poll(() => said, { timeout: 15_000 }).toMatchObject({ output: expect.stringContaining("pod/one") });
    });

    test("is held to the rights of whose token it has", async () => {
      await using api = await started();
      const manager = kubectlFor(api.connectionFor({ namespace: RELEASE_NAMESPACE, name: MANAGER_ACCOUNT }));
      const script = kubectlFor(api.connectionFor({ namespace: NAMESPACE, name: "rockbot-script" }));

      expect(await manager.run("get", "pods")).toBe("");
      await expect(manager.run("get", "pods", "--all-namespaces")).rejects.toThrow("cannot list resource");
      await expect(manager.run("get", "secrets")).rejects.toThrow("cannot list resource");
      await expect(script.run("get", "pods")).rejects.toThrow("cannot list resource");
    });
  },
);
