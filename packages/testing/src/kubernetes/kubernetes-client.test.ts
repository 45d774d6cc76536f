import { chmodSync } from "node:fs";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import {
  ApiException,
  Attach,
  CoreV1Api,
  KubeConfig,
  Log,
  type LogOptions,
  PatchStrategy,
  setHeaderOptions,
  type V1Pod,
  Watch,
} from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../machine/temporary-folder.ts";
import { kubeconfigOf } from "./cluster-connection.ts";
import { createControlGroup } from "./kubelet/control-group.ts";
import { whyNoPods } from "./kubelet/isolation.ts";
import { type KubernetesApi, startKubernetesApi } from "./start-kubernetes-api.ts";
import type { KubeObject, Pod } from "./store/objects.ts";
import { testPod } from "./test-pod.ts";

const NAMESPACE = "rooms";
const why = whyNoPods();

const denyAll: KubeObject = {
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name: "nothing", namespace: NAMESPACE },
  spec: { podSelector: {}, policyTypes: ["Ingress", "Egress"] },
} as KubeObject;

async function startApi(options: Parameters<typeof startKubernetesApi>[0] = {}): Promise<KubernetesApi> {
  return startKubernetesApi({ ...options, manifests: [denyAll, ...(options.manifests ?? [])] });
}

function configOf(api: KubernetesApi): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(kubeconfigOf(api.admin));
  return config;
}

/** Whether this machine lets processes be limited together, as a node does. */
function canLimitMemory(): boolean {
  const group = createControlGroup("probe", { memoryBytes: 2 ** 24, cpus: undefined, processes: 1 });
  group?.remove();
  return group !== undefined;
}

const createPod = (core: CoreV1Api, pod: Pod): Promise<V1Pod> =>
  core.createNamespacedPod({ namespace: NAMESPACE, body: pod as unknown as V1Pod });

/** The first event of a watch that fits, and the versions of those seen. */
async function untilSeen(
  config: KubeConfig,
  name: string,
  fits: (type: string, pod: V1Pod) => boolean,
  resourceVersion?: string,
): Promise<V1Pod> {
  const { promise, resolve, reject } = Promise.withResolvers<V1Pod>();
  const query = {
    fieldSelector: `metadata.name=${name}`,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  const controller = await new Watch(config).watch(
    `/api/v1/namespaces/${NAMESPACE}/pods`,
    query,
    (type: string, pod: V1Pod) => {
      if (fits(type, pod)) resolve(pod);
    },
    (error) => reject(error ?? new Error("The watch ended")),
  );
  try {
    return await promise;
  } finally {
    controller.abort();
  }
}

const hasEnded = (_type: string, { status }: V1Pod): boolean =>
  status?.phase === "Succeeded" || status?.phase === "Failed";
const isRunning = (_type: string, { status }: V1Pod): boolean => status?.phase === "Running";

async function logOf(config: KubeConfig, name: string, options: LogOptions = {}): Promise<string> {
  const stream = new PassThrough();
  const [logged] = await Promise.all([text(stream), new Log(config).log(NAMESPACE, name, "main", stream, options)]);
  return logged;
}

describe.skipIf(why !== undefined)(
  `a pod of the test API server${why === undefined ? "" : ` (skipped: ${why})`}`,
  () => {
    test("runs its command as a user without rights, in a root of its own without network, and keeps what it wrote", async () => {
      await using api = await startApi();
      const config = configOf(api);
      const core = config.makeApiClient(CoreV1Api);
      const script = [
        "import os, socket, sys",
        "print(os.getuid(), os.getpid(), sorted(os.listdir('/')), flush=True)",
        "print(open('/proc/self/status').read().split('CapBnd:')[1].split()[0], flush=True)",
        "try: open('/nothing', 'w')",
        "except OSError as fault: print(fault, file=sys.stderr, flush=True)",
        "try: socket.create_connection(('127.0.0.1', int(os.environ['KUBERNETES_SERVICE_PORT'])), 5)",
        "except OSError as fault: print(fault, flush=True)",
        "sys.exit(3)",
      ].join("\n");
      await createPod(core, testPod("one", { command: ["python3", "-c", script] }));
      const pod = await untilSeen(config, "one", hasEnded);

      expect(pod.status).toMatchObject({
        phase: "Failed",
        containerStatuses: [{ state: { terminated: { exitCode: 3, reason: "Error" } } }],
      });
      const log = await logOf(config, "one");
      expect(log).toMatch(/^1000 1 \['bin', 'dev', 'etc',/);
      expect(log).not.toContain("'home'");
      expect(log).toContain("0000000000000000\n");
      expect(log).toContain("Read-only file system: '/nothing'");
      expect(log).toContain("Connection refused");
    });

    test("takes its input by attach, once, and gives its streams apart", async () => {
      await using api = await startApi();
      const config = configOf(api);
      await createPod(
        config.makeApiClient(CoreV1Api),
        testPod("one", {
          stdin: true,
          command: [
            "python3",
            "-c",
            "import sys; text = sys.stdin.read(); print(text.upper()); print('beside', file=sys.stderr)",
          ],
        }),
      );
      await untilSeen(config, "one", isRunning);
      const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
      await new Attach(config).attach(NAMESPACE, "one", "main", stdout, stderr, stdin, false);
      stdin.end("hello ".repeat(50_000));

      expect((await text(stdout)).trim()).toBe("HELLO ".repeat(50_000).trim());
      expect(await text(stderr)).toBe("beside\n");
      expect(await untilSeen(config, "one", hasEnded)).toMatchObject({ status: { phase: "Succeeded" } });
    });

    test("follows a log until the end, and cuts it where it is told to", async () => {
      await using api = await startApi();
      const config = configOf(api);
      await createPod(
        config.makeApiClient(CoreV1Api),
        testPod("one", {
          stdin: true,
          command: ["python3", "-u", "-c", "print('first'); input(); print('second'); print('third')"],
        }),
      );
      await untilSeen(config, "one", isRunning);
      const followed = logOf(config, "one", { follow: true });
      const stdin = new PassThrough();
      await new Attach(config).attach(NAMESPACE, "one", "main", null, null, stdin, false);
      stdin.end("go\n");

      expect(await followed).toBe("first\nsecond\nthird\n");
      expect(await logOf(config, "one", { limitBytes: 8 })).toBe("first\nse");
      expect(await logOf(config, "one", { tailLines: 2 })).toBe("second\nthird\n");
    });

    test("is told apart by how it fails", async () => {
      await using api = await startApi();
      const config = configOf(api);
      const core = config.makeApiClient(CoreV1Api);
      const waitsFor =
        (reason: string) =>
        (_type: string, { status }: V1Pod) =>
          status?.containerStatuses?.[0]?.state?.waiting?.reason === reason;
      await createPod(core, testPod("no-image", { image: "nobody/nothing:1" }));
      await createPod(core, testPod("no-command", { command: ["/nothing"] }));
      await createPod(
        core,
        testPod("no-user", {
          spec: { securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } } },
        }),
      );
      await createPod(
        core,
        testPod("too-long", {
          command: ["python3", "-c", "import time; time.sleep(600)"],
          spec: { activeDeadlineSeconds: 1 },
        }),
      );
      await createPod(core, testPod("forced", { command: ["python3", "-c", "import time; time.sleep(600)"] }));
      await untilSeen(config, "forced", isRunning);
      await api.nodes[0]?.end(NAMESPACE, "forced", "Evicted");

      await untilSeen(config, "no-image", waitsFor("ImagePullBackOff"));
      await untilSeen(config, "no-user", waitsFor("CreateContainerConfigError"));
      expect(await untilSeen(config, "no-command", hasEnded)).toMatchObject({
        status: { containerStatuses: [{ state: { terminated: { exitCode: 128, reason: "StartError" } } }] },
      });
      expect(await untilSeen(config, "too-long", hasEnded)).toMatchObject({
        status: { phase: "Failed", reason: "DeadlineExceeded" },
      });
      expect(await untilSeen(config, "forced", hasEnded)).toMatchObject({
        status: { phase: "Failed", reason: "Evicted" },
      });
    });

    test("is killed for want of memory, and says so", async () => {
      await using api = await startApi();
      const config = configOf(api);
      const core = config.makeApiClient(CoreV1Api);
      // Where the kernel lets the tests set no limit, the node is told to end the pod so.
      await createPod(
        core,
        testPod("one", { command: ["python3", "-c", "import time; hoard = bytearray(256 * 2**20); time.sleep(600)"] }),
      );
      const running = await untilSeen(config, "one", (type, pod) => isRunning(type, pod) || hasEnded(type, pod));
      if (!canLimitMemory() && running.status?.phase === "Running")
        await api.nodes[0]?.end(NAMESPACE, "one", "OOMKilled");

      expect(await untilSeen(config, "one", hasEnded)).toMatchObject({
        status: {
          phase: "Failed",
          containerStatuses: [{ state: { terminated: { exitCode: 137, reason: "OOMKilled" } } }],
        },
      });
    });

    test("reaches the machine's network where no policy is enforced, and has its account's token unless it refuses it", async () => {
      await using api = await startApi({ enforcesNetworkPolicies: false });
      const config = configOf(api);
      const script = [
        "import os, socket",
        "socket.create_connection(('127.0.0.1', int(os.environ['KUBERNETES_SERVICE_PORT'])), 5)",
        "print('reached', len(open('/var/run/secrets/kubernetes.io/serviceaccount/token').read()) > 0)",
      ].join("\n");
      await createPod(
        config.makeApiClient(CoreV1Api),
        testPod("one", { command: ["python3", "-c", script], spec: { automountServiceAccountToken: true } }),
      );
      await untilSeen(config, "one", hasEnded);

      expect(await logOf(config, "one")).toBe("reached True\n");
    });

    test("shows a claimed volume's folder, for reading only, and folders of its own of a size", async () => {
      using folder = temporaryFolder();
      folder.write("wheel", "packed");
      await using api = await startApi({ claims: { packages: folder.path } });
      const config = configOf(api);
      const script = [
        "print(open('/packages/wheel').read())",
        "for path in ['/packages/more', '/tmp/small', '/tmp/large']:",
        "  try: open(path, 'w').write('x' * (1000 if path == '/tmp/small' else 2_000_000))",
        "  except OSError as fault: print(fault.strerror)",
      ].join("\n");
      const pod = testPod("one", { command: ["python3", "-c", script] });
      const volumeMounts = [
        { name: "packages", mountPath: "/packages", readOnly: true },
        { name: "tmp", mountPath: "/tmp" },
      ];
      const volumes = [
        { name: "packages", persistentVolumeClaim: { claimName: "packages", readOnly: true } },
        { name: "tmp", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
      ];
      chmodSync(folder.path, 0o755);
      await createPod(config.makeApiClient(CoreV1Api), {
        ...pod,
        spec: { ...pod.spec, volumes, containers: pod.spec.containers.map((one) => ({ ...one, volumeMounts })) },
      });
      await untilSeen(config, "one", hasEnded);

      expect(await logOf(config, "one")).toBe("packed\nRead-only file system\nNo space left on device\n");
    });

    test("waits for a node that has room, and says so", async () => {
      await using api = await startApi({ nodes: [{ name: "small", cpus: 0.6 }] });
      const config = configOf(api);
      const core = config.makeApiClient(CoreV1Api);
      await createPod(core, testPod("first", { command: ["python3", "-c", "import time; time.sleep(600)"] }));
      await untilSeen(config, "first", isRunning);
      await createPod(core, testPod("second"));
      const pod = await untilSeen(
        config,
        "second",
        (_type, { status }) => status?.conditions?.[0]?.reason === "Unschedulable",
      );
      expect(pod.status?.conditions?.[0]).toMatchObject({
        type: "PodScheduled",
        status: "False",
        message: "0/1 nodes are available: 1 Insufficient cpu.",
      });

      await core.deleteNamespacedPod({ namespace: NAMESPACE, name: "first" });
      await untilSeen(config, "second", hasEnded);
    });

    test("is given its grace when it is deleted, and is gone after it", async () => {
      await using api = await startApi();
      const config = configOf(api);
      const core = config.makeApiClient(CoreV1Api);
      const script =
        "import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\nprint('ready', flush=True)\ntime.sleep(600)";
      await createPod(
        core,
        testPod("one", { command: ["python3", "-c", script], spec: { terminationGracePeriodSeconds: 60 } }),
      );
      await untilSeen(config, "one", isRunning);
      while (!(await logOf(config, "one")).includes("ready")) await sleep(20);
      const gone = untilSeen(config, "one", (type) => type === "DELETED");
      const marked = await core.deleteNamespacedPod({ namespace: NAMESPACE, name: "one" });

      expect((marked as unknown as V1Pod).metadata?.deletionGracePeriodSeconds).toBe(60);
      await gone;
    });

    test("stays while a finalizer holds it", async () => {
      await using api = await startApi({ podFinalizers: ["example.com/stuck"] });
      const config = configOf(api);
      const core = config.makeApiClient(CoreV1Api);
      await createPod(core, testPod("one"));
      await untilSeen(config, "one", hasEnded);
      await core.deleteNamespacedPod({ namespace: NAMESPACE, name: "one" });
      const stuck = await core.readNamespacedPod({ namespace: NAMESPACE, name: "one" });
      expect(stuck.metadata?.deletionTimestamp).toBeDefined();

      await core.patchNamespacedPod(
        { namespace: NAMESPACE, name: "one", body: { metadata: { finalizers: null } } },
        setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
      );
      await expect(core.readNamespacedPod({ namespace: NAMESPACE, name: "one" })).rejects.toMatchObject({ code: 404 });
    });

    test("is lost with its node until it is deleted without grace", async () => {
      await using api = await startApi();
      const config = configOf(api);
      const core = config.makeApiClient(CoreV1Api);
      await createPod(
        core,
        testPod("one", {
          command: ["python3", "-c", "import time; time.sleep(600)"],
          spec: { terminationGracePeriodSeconds: 30 },
        }),
      );
      await untilSeen(config, "one", isRunning);
      api.nodes[0]?.lose();
      const lost = await core.readNamespacedPod({ namespace: NAMESPACE, name: "one" });

      expect(lost.status).toMatchObject({
        phase: "Running",
        conditions: expect.arrayContaining([
          expect.objectContaining({ type: "DisruptionTarget", reason: "DeletionByTaintManager" }),
        ]),
      });
      await expect(logOf(config, "one")).rejects.toBeInstanceOf(ApiException);
      await core.deleteNamespacedPod({ namespace: NAMESPACE, name: "one", gracePeriodSeconds: 0 });
      await expect(core.readNamespacedPod({ namespace: NAMESPACE, name: "one" })).rejects.toMatchObject({ code: 404 });
    });
  },
);
