import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { silentLogger } from "@rockbot/bus";
import { defaultSandboxLimits, pooledRunner, type ScriptJob, type ScriptRunner } from "@rockbot/sandbox";
import { kubernetesMaker } from "@rockbot/sandbox/kubernetes";
import { temporaryFolder } from "@rockbot/testing";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Cluster, uniqueName } from "./cluster.ts";
import { clusterFile, holdProcess, killProcess, whyNoKills, whyNoProcesses } from "./cluster-processes.ts";
import { makeScriptsNamespace, type ScriptsNamespace } from "./scripts-namespace.ts";

const cluster = await Cluster.open();
const made = new AsyncDisposableStack();
let scripts: ScriptsNamespace;
beforeAll(async () => {
  // What other tests have left on the machine is to be gone before its room is counted.
  const going = () =>
    cluster.kubectl(["get", "namespaces", "--field-selector", "status.phase=Terminating", "--output", "name"]);
  await vi.waitUntil(async () => (await going()) === "", { timeout: 120_000, interval: 500 });
  scripts = made.use(await makeScriptsNamespace(cluster));
});
afterAll(() => made.disposeAsync());

const DEADLINE_MS = 120_000;
/** How long a process of the cluster is held. */
const HELD_MS = 12_000;
const PROCESSORS = 0.1;
/** The share of a full machine that a pod without room asks for. */
const BIG = 0.5;
const { signal } = new AbortController();

interface RunnerOptions {
  readonly ceiling?: number;
  /** The processors of each pod. */
  readonly processors?: number;
  readonly scheduleMs?: number;
}

function startRunner({ ceiling = 3, processors = PROCESSORS, ...rest }: RunnerOptions = {}): ScriptRunner {
  const limits = { ...defaultSandboxLimits, processors };
  const maker = kubernetesMaker({
    kubeconfigFile: scripts.kubeconfigFile,
    namespace: scripts.name,
    limits,
    ...scripts.podNames,
    ...rest,
  });
  return pooledRunner(maker, { floor: 0, ceiling, idleMs: 60_000, keepBytes: 10_000, log: silentLogger });
}

const jobOf = (...lines: readonly string[]): ScriptJob => ({
  id: randomBytes(16).toString("hex"),
  script: ["import time", ...lines].join("\n"),
  timeoutMs: 60_000,
});
const run = (runner: ScriptRunner, job: ScriptJob) =>
  runner.run(job, { signal, deadline: performance.now() + DEADLINE_MS });
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
    await cluster.kubectl(
      ["create", "--raw", `/api/v1/namespaces/${scripts.name}/pods/${pod}/eviction`, "--filename", "-"],
      {
        input: JSON.stringify(eviction),
      },
    );

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
    expect(await run(runner, jobOf("kept = []", "while True: kept.append(b'x' * (1 << 20))"))).toMatchObject({
      limit: "memory",
    });
  });

  test("never scheduled, as no machine has room", async () => {
    await using full = await idlePod({ processors: await freeProcessors() });
    await full.bind();
    await using runner = startRunner({ processors: BIG, scheduleMs: 4_000 });

    await expect(run(runner, jobOf("print(1)"))).rejects.toMatchObject({
      code: "unavailable",
      details: { reason: "unschedulable" },
    });
  });

  test("preempted by a pod of a higher priority", async () => {
    await using runner = startRunner({ processors: BIG, ceiling: 1 }); // no spare pod gives its room instead
    const { outcome } = await begin(runner);
    await using _other = await idlePod({
      processors: (await freeProcessors()) + BIG / 2,
      schedulerName: "default-scheduler",
    });

    await expect(outcome).rejects.toMatchObject({ code: "execution_failed", details: { reason: "preempted" } });
  });
});

test("F35: scripts wait for their turn where a quota grants less, and each is answered", async () => {
  await cluster.apply({
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "two", namespace: scripts.name },
    spec: { hard: { pods: "2" } },
  } as never);
  await using _gone = { [Symbol.asyncDispose]: async () => void (await ask("delete", "resourcequota", "two")) };
  await using runner = startRunner({ ceiling: 6 });
  const numbers = Array.from({ length: 6 }, (_, number) => number);

  const outcomes = await Promise.all(numbers.map((number) => run(runner, jobOf(`print(${number})`))));
  expect(outcomes.map(({ stdout }) => stdout)).toEqual(numbers.map((number) => `${number}\n`));
});

const named = (what: string, reason: string | undefined): string =>
  reason === undefined ? what : `${what} (skipped: ${reason})`;
const parts = ["kube-apiserver", "etcd", "kubelet"] as const;

/** A script runs, and another comes, while something is wrong with the cluster. */
async function throughFault(fault: () => Promise<void>): Promise<void> {
  await using runner = startRunner();
  const { job, outcome } = await begin(runner, 5);
  const later = jobOf('print("later")');
  const answer = run(runner, later);
  answer.catch(() => {});
  await fault();
  expect((await outcome).stdout).toBe("through\n");
  expect((await answer).stdout).toBe("later\n");
  for (const { id } of [job, later]) {
    const pods = (await ask("get", "pods", "--selector", `rockbot.dev/job=${id}`, "--output", "name"))
      .split("\n")
      .filter((line) => line !== "");
    expect(pods.length).toBeLessThanOrEqual(1);
  }
}

const noProcesses = whyNoProcesses();
describe.skipIf(noProcesses !== undefined)(
  named("F29, F30, F34: a part of the cluster stands still", noProcesses),
  () => {
    test.each(parts)(
      "%s: a script that runs is answered, and one that comes meanwhile, too; each has begun once",
      async (name) => {
        await throughFault(async () => {
          using _held = holdProcess(name);
          await setTimeout(HELD_MS); // the fault itself: both scripts would have ended by now
        });
      },
    );
  },
);

const noKills = whyNoKills();
describe.skipIf(noKills !== undefined)(
  named("F29, F30, F31, F34: a part of the cluster is killed, and started again", noKills),
  () => {
    test.each(parts)(
      "%s: a script that runs is answered, and one that comes meanwhile, too; each has begun once",
      async (name) => {
        await throughFault(async () => {
          await using _killed = killProcess(name);
        });
      },
    );

    test("a script whose pod was sent where by then is no room gets another one once there is room, and begins once", async () => {
      await expect.poll(() => ask("get", "pods", "--output", "name")).toBe(""); // those of the test before would give their room back
      await using runner = startRunner({ processors: BIG });
      const job = jobOf("print(1)");
      let outcome: ReturnType<typeof run>;
      {
        // Older than the script's pod, so that a kubelet that finds both admits it first.
        await using full = await idlePod({ processors: (await freeProcessors()) - BIG / 2 });
        await using killed = killProcess("kubelet");
        outcome = run(runner, job);
        outcome.catch(() => {});
        await expect
          .poll(() =>
            ask(
              "get",
              "pods",
              "--selector",
              `rockbot.dev/job=${job.id}`,
              "--output",
              "jsonpath={.items[*].spec.nodeName}",
            ),
          )
          .not.toBe("");
        await full.bind();
        await killed.startAgain();
        await expect.poll(() => ask("get", "events", "--output", "jsonpath={.items[*].reason}")).toContain("OutOfcpu");
      }
      expect((await outcome).stdout).toBe("1\n");
    });

    test("a script whose machine is short of process numbers is evicted, and told so", async () => {
      await using runner = startRunner();
      const { outcome } = await begin(runner);
      using folder = temporaryFolder();
      const [settings, ...lines] = readFileSync(clusterFile("kubelet.yaml") ?? "", "utf8").split(/^evictionHard:.*$/m);
      // No machine has so many: a kubelet that has this bound reports pressure, and evicts the pods of the lowest
      // priority first.
      const file = folder.write(
        "kubelet.yaml",
        [settings, 'evictionHard: { pid.available: "2000000000" }', ...lines].join("\n"),
      );
      await using kubelet = killProcess("kubelet");
      kubelet.startWith(file);

      await expect(outcome).rejects.toMatchObject({ code: "execution_failed", details: { reason: "evicted" } });
      const pressure = 'jsonpath={.items[*].status.conditions[?(@.type=="PIDPressure")].status}';
      await expect.poll(() => cluster.kubectl(["get", "nodes", "--output", pressure])).toBe("True"); // a kubelet evicts before it reports
    });
  },
);

interface IdlePod extends AsyncDisposable {
  /** Puts it on the first machine, whichever room there is. */
  bind(): Promise<void>;
}

interface IdlePodOptions {
  readonly processors: number;
  /** @default nobody, so that it waits for `bind` */
  readonly schedulerName?: string;
}

/** A pod that does nothing, and gives way to all but scripts. */
async function idlePod({ processors, schedulerName = "nobody" }: IdlePodOptions): Promise<IdlePod> {
  await using making = new AsyncDisposableStack();
  const { name: namespace } = making.use(await cluster.namespace("full"));
  const priorityClassName = uniqueName("full");
  making.defer(
    async () => void (await cluster.kubectl(["delete", "priorityclass", priorityClassName, "--ignore-not-found"])),
  );
  await cluster.apply({
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name: priorityClassName },
    value: -1,
  } as never);
  const resources = { requests: { cpu: `${Math.max(1, Math.floor(processors * 1_000))}m` } };
  const container = {
    name: "wait",
    image: "python:3.12-slim",
    command: ["python3", "-c", "import time; time.sleep(1000)"],
    resources,
  };
  const spec = { schedulerName, priorityClassName, terminationGracePeriodSeconds: 0, containers: [container] };
  await cluster.apply({ apiVersion: "v1", kind: "Pod", metadata: { name: "full", namespace }, spec } as never);
  making.defer(
    async () => void (await cluster.kubectl(["--namespace", namespace, "delete", "pod", "full", "--ignore-not-found"])),
  );
  const made = making.move();
  return {
    async bind() {
      const target = { apiVersion: "v1", kind: "Node", name: (await firstNode()).metadata.name };
      const binding = { apiVersion: "v1", kind: "Binding", metadata: { name: "full", namespace }, target };
      const path = `/api/v1/namespaces/${namespace}/pods/full/binding`;
      await cluster.kubectl(["create", "--raw", path, "--filename", "-"], { input: JSON.stringify(binding) });
    },
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
}

interface NodeObject {
  readonly metadata: { readonly name: string };
  readonly status: { readonly allocatable: { readonly cpu: string } };
}

interface PodRequests {
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly { readonly resources?: { readonly requests?: { readonly cpu?: string } } }[];
  };
  readonly status: { readonly phase: string };
}

async function firstNode(): Promise<NodeObject> {
  const { items } = await cluster.json<{ readonly items: readonly [NodeObject] }>(["get", "nodes"]);
  return items[0];
}

/** The free processors of the first machine. */
async function freeProcessors(): Promise<number> {
  const node = await firstNode();
  const pods = await cluster.json<{ readonly items: readonly PodRequests[] }>(["get", "pods", "--all-namespaces"]);
  const amount = (cpu = "0"): number => (cpu.endsWith("m") ? Number(cpu.slice(0, -1)) / 1_000 : Number(cpu));
  const asked = pods.items
    .filter(
      ({ spec, status }) =>
        spec.nodeName === node.metadata.name && status.phase !== "Succeeded" && status.phase !== "Failed",
    )
    .flatMap(({ spec }) => spec.containers.map(({ resources }) => amount(resources?.requests?.cpu)));
  return amount(node.status.allocatable.cpu) - asked.reduce((sum, one) => sum + one, 0);
}
