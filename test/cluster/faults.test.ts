import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { silentLogger } from "@rockbot/bus";
import { defaultSandboxLimits, pooledRunner, type ScriptJob, type ScriptRunner } from "@rockbot/sandbox";
import { kubernetesMaker } from "@rockbot/sandbox/kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Cluster, uniqueName } from "./cluster.ts";
import { holdProcess, whyNoProcesses } from "./cluster-processes.ts";
import { makeScriptsNamespace, type ScriptsNamespace } from "./scripts-namespace.ts";

const cluster = await Cluster.open();
const made = new AsyncDisposableStack();
let scripts: ScriptsNamespace;
beforeAll(async () => {
  scripts = made.use(await makeScriptsNamespace(cluster));
});
afterAll(() => made.disposeAsync());

const DEADLINE_MS = 120_000;
/** How long a process of the cluster is held. */
const HELD_MS = 12_000;
const PROCESSORS = 0.1;
const { signal } = new AbortController();

function startRunner(options: { readonly ceiling?: number; readonly scheduleMs?: number } = {}): ScriptRunner {
  const { ceiling = 3, ...rest } = options;
  const limits = { ...defaultSandboxLimits, processors: PROCESSORS };
  const maker = kubernetesMaker({ kubeconfigFile: scripts.kubeconfigFile, namespace: scripts.name, limits, ...scripts.podNames, ...rest });
  return pooledRunner(maker, { floor: 0, ceiling, idleMs: 60_000, keepBytes: 10_000, log: silentLogger });
}

const jobOf = (...lines: readonly string[]): ScriptJob => ({
  id: randomBytes(16).toString("hex"),
  script: ["import time", ...lines].join("\n"),
  timeoutMs: 60_000,
});
const run = (runner: ScriptRunner, job: ScriptJob) => runner.run(job, { signal, deadline: performance.now() + DEADLINE_MS });
const ask = (...args: readonly string[]): Promise<string> => cluster.kubectl(["--namespace", scripts.name, ...args]);
const podOf = (job: ScriptJob): Promise<string> =>
  ask("get", "pods", "--selector", `rockbot.dev/job=${job.id}`, "--output", "jsonpath={.items[*].metadata.name}");

/** A script that has begun, and the pod that it runs in. */
async function begin(runner: ScriptRunner, seconds = 60) {
  const job = jobOf(`time.sleep(${seconds})`, 'print("through")');
  const outcome = run(runner, job);
  outcome.catch(() => {});
  const started = async (): Promise<string> => {
    const pod = await podOf(job);
    return pod === "" ? "" : await cluster.logs(scripts.name, `pod/${pod}`);
  };
  await expect.poll(started).toContain('"frame":"started"');
  return { job, outcome, pod: await podOf(job) };
}

describe("F31: a script whose pod the cluster ends is told the real reason", () => {
  test("evicted by the API", async () => {
    await using runner = startRunner();
    const { outcome, pod } = await begin(runner);
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: pod, namespace: scripts.name } };
    await cluster.kubectl(["create", "--raw", `/api/v1/namespaces/${scripts.name}/pods/${pod}/eviction`, "--filename", "-"], {
      input: JSON.stringify(eviction),
    });

    await expect(outcome).rejects.toMatchObject({ code: "execution_failed", details: { reason: "evicted" } });
  });

  test("deleted by somebody", async () => {
    await using runner = startRunner();
    const { outcome, pod } = await begin(runner);
    await ask("delete", "pod", pod, "--wait=false");

    await expect(outcome).rejects.toMatchObject({ code: "execution_failed", details: { reason: "deleted" } });
  });

  test("out of memory", async () => {
    await using runner = startRunner();
    expect(await run(runner, jobOf("kept = []", "while True: kept.append(b'x' * (1 << 20))"))).toMatchObject({ limit: "memory" });
  });

  test("never scheduled, as no machine has room", async () => {
    const limits = { ...defaultSandboxLimits, processors: 0.5, memoryBytes: 256 * 1024 * 1024 };
    await using _full = await fillNode();
    const maker = kubernetesMaker({ kubeconfigFile: scripts.kubeconfigFile, namespace: scripts.name, limits, ...scripts.podNames, scheduleMs: 4_000 });
    await using runner = pooledRunner(maker, { floor: 0, ceiling: 1, idleMs: 60_000, keepBytes: 1_000, log: silentLogger });

    await expect(run(runner, jobOf("print(1)"))).rejects.toMatchObject({ code: "unavailable", details: { reason: "unschedulable" } });
  });
});

test("F35: scripts wait for their turn where a quota grants less, and each is answered", async () => {
  await cluster.apply({ apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "two", namespace: scripts.name }, spec: { hard: { pods: "2" } } } as never);
  await using _gone = { [Symbol.asyncDispose]: async () => void (await ask("delete", "resourcequota", "two")) };
  await using runner = startRunner({ ceiling: 6 });
  const numbers = Array.from({ length: 6 }, (_, number) => number);

  const outcomes = await Promise.all(numbers.map((number) => run(runner, jobOf(`print(${number})`))));
  expect(outcomes.map(({ stdout }) => stdout)).toEqual(numbers.map((number) => `${number}\n`));
});

const noProcesses = whyNoProcesses();
describe.skipIf(noProcesses !== undefined)(
  `F29, F30, F34: a part of the cluster that stands still${noProcesses === undefined ? "" : ` (skipped: ${noProcesses})`}`,
  () => {
    test.each(["kube-apiserver", "etcd", "kubelet"] as const)(
      "%s: a script that runs is answered, and one that comes meanwhile, too; each has begun once",
      async (name) => {
        await using runner = startRunner();
        const { job, outcome } = await begin(runner, 5);
        const later = jobOf('print("later")');
        let answer: ReturnType<typeof run>;
        {
          using _held = holdProcess(name);
          answer = run(runner, later);
          answer.catch(() => {});
          await setTimeout(HELD_MS); // the fault itself: both scripts would have ended by now
        }
        expect((await outcome).stdout).toBe("through\n");
        expect((await answer).stdout).toBe("later\n");
        for (const { id } of [job, later]) {
          const pods = (await ask("get", "pods", "--selector", `rockbot.dev/job=${id}`, "--output", "name")).split("\n").filter((line) => line !== "");
          expect(pods.length).toBeLessThanOrEqual(1);
        }
      },
    );
  },
);

/** A pod that asks for all processors that are left of the first machine, and gives way to all but scripts. */
async function fillNode(): Promise<AsyncDisposable> {
  await using making = new AsyncDisposableStack();
  const { name: namespace } = making.use(await cluster.namespace("full"));
  const priorityClassName = uniqueName("full");
  making.defer(async () => void (await cluster.kubectl(["delete", "priorityclass", priorityClassName, "--ignore-not-found"])));
  await cluster.apply({ apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name: priorityClassName }, value: -1 } as never);
  const cpu = `${Math.max(1, Math.floor((await freeProcessors()) * 1_000))}m`;
  const container = { name: "wait", image: "python:3.12-slim", command: ["python3", "-c", "import time; time.sleep(1000)"], resources: { requests: { cpu } } };
  const spec = { priorityClassName, terminationGracePeriodSeconds: 0, containers: [container] };
  await cluster.apply({ apiVersion: "v1", kind: "Pod", metadata: { name: "full", namespace }, spec } as never);
  making.defer(async () => void (await cluster.kubectl(["--namespace", namespace, "delete", "pod", "full", "--ignore-not-found"])));
  await cluster.kubectl(["--namespace", namespace, "wait", "--for=condition=PodScheduled", "--timeout=60s", "pod/full"], { timeoutMs: 70_000 });
  const filled = making.move();
  return { [Symbol.asyncDispose]: () => filled.disposeAsync() };
}

interface PodRequests {
  readonly spec: { readonly containers: readonly { readonly resources?: { readonly requests?: { readonly cpu?: string } } }[] };
  readonly status: { readonly phase: string };
}

/** Of a cluster of one machine. */
async function freeProcessors(): Promise<number> {
  const nodes = await cluster.json<{ readonly items: readonly { readonly status: { readonly allocatable: { readonly cpu: string } } }[] }>(["get", "nodes"]);
  const pods = await cluster.json<{ readonly items: readonly PodRequests[] }>(["get", "pods", "--all-namespaces"]);
  const amount = (cpu = "0"): number => (cpu.endsWith("m") ? Number(cpu.slice(0, -1)) / 1_000 : Number(cpu));
  const asked = pods.items
    .filter(({ status }) => status.phase === "Running" || status.phase === "Pending")
    .flatMap(({ spec }) => spec.containers.map(({ resources }) => amount(resources?.requests?.cpu)));
  return amount(nodes.items[0]?.status.allocatable.cpu) - asked.reduce((sum, one) => sum + one, 0);
}
