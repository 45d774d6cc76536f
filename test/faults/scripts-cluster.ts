import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@rockbot/bus";
import { pooledRunner, runJob, type SandboxMaker, type ScriptJob, type ScriptRunner } from "@rockbot/scripts-manager";
import { type KubernetesMakerOptions, kubernetesMaker } from "@rockbot/scripts-manager/kubernetes";
import {
  type KubernetesApi,
  MANAGER_ACCOUNT,
  RELEASE_NAMESPACE,
  type StartKubernetesApiOptions,
  scriptsManifests,
  startKubernetesApi,
  whyNoPods,
  writeKubeconfig,
} from "@rockbot/testing";

const why = whyNoPods();
/** Whether this machine can have no cluster, why, and the same as the end of a test's name. */
export const noCluster = { isSo: why !== undefined, why, words: why === undefined ? "" : ` (skipped: ${why})` };

/** A test API server with a namespace for scripts, seen from outside. */
export interface ScriptsCluster extends AsyncDisposable {
  readonly api: KubernetesApi;
  readonly kubeconfigFile: string;
  /** The manager's user. */
  readonly user: string;
  /** A runner of this cluster in this process. */
  runner(options?: RunnerOptions): ScriptRunner;
  /** Makes pods of this cluster in this process. */
  maker(options?: Partial<KubernetesMakerOptions>): SandboxMaker;
  /** Pods that are there, finished or not. */
  pods(): readonly PodLike[];
  /** The name of the pod that has a job. @throws {Error} if there is none, or more than one */
  podOf(job: string): string;
  /** The pods that there have been of each job. */
  readonly podsOfJobs: ReadonlyMap<string, ReadonlySet<string>>;
  /** How often each job's script was begun, as the logs of the pods tell. */
  readonly startsOfJobs: ReadonlyMap<string, number>;
}

export interface RunnerOptions extends Partial<KubernetesMakerOptions> {
  readonly floor?: number;
  readonly ceiling?: number;
}

export interface PodLike {
  readonly metadata: { readonly name: string; readonly uid?: string; readonly labels?: Readonly<Record<string, string>> };
  readonly status?: { readonly phase?: string };
}

export const NAMESPACE = "rockbot-scripts";
/** Of stdout and of stderr, each. */
export const RUNNER_KEEPS_BYTES = 64 * 1024;
/** As the chart has the manager name them. */
const chartNames = { serviceAccountName: "rockbot-script", priorityClassName: "rockbot-script" };
/** How often the pods are looked at: none is there for a shorter time. */
const LOOK_MS = 10;

export async function openScriptsCluster(options: StartKubernetesApiOptions = {}): Promise<ScriptsCluster> {
  await using opening = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "rockbot-cluster-"));
  opening.defer(() => rm(folder, { recursive: true, force: true }));
  const api = opening.use(await startKubernetesApi({ ...options, manifests: [...scriptsManifests(NAMESPACE), ...(options.manifests ?? [])] }));
  const connection = api.connectionFor({ namespace: RELEASE_NAMESPACE, name: MANAGER_ACCOUNT });
  const kubeconfigFile = join(folder, "kubeconfig");
  writeKubeconfig(kubeconfigFile, connection);
  const podsOfJobs = new Map<string, Set<string>>();
  const startsOfPods = new Map<string, readonly string[]>();
  const pods = () => api.list("pods", NAMESPACE) as readonly PodLike[];
  const look = (): void => {
    for (const pod of pods()) {
      const { uid = "", labels = {} } = pod.metadata;
      const job = labels["rockbot.dev/job"];
      if (job !== undefined) podsOfJobs.set(job, (podsOfJobs.get(job) ?? new Set()).add(uid));
      startsOfPods.set(uid, startsIn(api, pod));
    }
  };
  const looking = setInterval(look, LOOK_MS);
  opening.defer(() => clearInterval(looking));
  const opened = opening.move();
  const maker: ScriptsCluster["maker"] = (more) => kubernetesMaker({ kubeconfigFile, namespace: NAMESPACE, ...chartNames, ...more });
  return {
    api,
    kubeconfigFile,
    user: connection.user,
    maker,
    runner: ({ floor = 0, ceiling = 8, ...rest } = {}) =>
      pooledRunner(maker(rest), { floor, ceiling, idleMs: 60_000, keepBytes: RUNNER_KEEPS_BYTES, log: silentLogger }),
    pods,
    podOf(job) {
      const [pod, another] = pods().filter(({ metadata }) => metadata.labels?.["rockbot.dev/job"] === job);
      if (pod === undefined || another !== undefined) throw new Error(`Expected one pod of the job, there ${pod === undefined ? "is none" : "are more"}`);
      return pod.metadata.name;
    },
    podsOfJobs,
    get startsOfJobs() {
      look();
      const counts = new Map<string, number>();
      for (const job of [...startsOfPods.values()].flat()) counts.set(job, (counts.get(job) ?? 0) + 1);
      return counts;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** The jobs that a pod's supervisor says it has started. */
function startsIn(api: KubernetesApi, pod: PodLike): string[] {
  const log = api.nodes.map((node) => node.container(pod as never, "script")?.log.read()).find((text) => text !== undefined);
  if (log === undefined) return [];
  return log
    .toString()
    .split("\n")
    .flatMap((line) => (line.startsWith('{"frame":"started"') ? [(JSON.parse(line) as { readonly job: string }).job] : []));
}

/** A job that prints its own id. */
export function jobNamed(
  name: string,
  { lines = [], timeoutMs = 20_000 }: { readonly lines?: readonly string[]; readonly timeoutMs?: number } = {},
): ScriptJob {
  const id = createHash("sha256").update(name).digest("hex").slice(0, 32);
  return { id, script: [...lines, `print(${JSON.stringify(id)}, end="")`].join("\n"), timeoutMs };
}

export const uniqueJob = (options?: Parameters<typeof jobNamed>[1]): ScriptJob => jobNamed(randomBytes(8).toString("hex"), options);

/** Runs a job in a sandbox that is made for it. @returns how long that took to make, in milliseconds, and what the job wrote */
export async function runCold(maker: SandboxMaker, job: ScriptJob, signal: AbortSignal): Promise<{ readonly stdout: string; readonly waitMs: number }> {
  const began = performance.now();
  await using sandbox = await maker.make({ jobId: job.id, signal });
  const waitMs = performance.now() - began;
  const { stdout } = await runJob(sandbox, job, { signal, keepBytes: RUNNER_KEEPS_BYTES });
  return { stdout, waitMs };
}
