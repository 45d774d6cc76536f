import { randomBytes } from "node:crypto";
import { silentLogger } from "@rockbot/bus";
import {
  defaultSandboxLimits,
  pooledRunner,
  runJob,
  type SandboxMaker,
  type ScriptJob,
  type ScriptRunner,
} from "@rockbot/sandbox";
import { type KubernetesMakerOptions, kubernetesMaker } from "@rockbot/sandbox/kubernetes";
import {
  type Pod,
  type StartKubernetesApiOptions,
  type TestCluster,
  temporaryFolder,
  testCluster,
  whyNoFaults,
  whyNoPods,
  writeKubeconfig,
} from "@rockbot/testing";

/** Why tests are skipped, if they are, and the same as the end of their name. */
interface Skip {
  readonly isSo: boolean;
  readonly why: string | undefined;
  readonly words: string;
}

const skipFor = (why: string | undefined): Skip => ({
  isSo: why !== undefined,
  why,
  words: why === undefined ? "" : ` (skipped: ${why})`,
});

/** Skips tests that need any cluster: a real one needs nothing of this machine. */
export const noCluster = skipFor(whyNoFaults() === undefined ? whyNoPods() : undefined);
/** Skips tests that need one whose API server they control. */
export const noOwnCluster = skipFor(whyNoFaults() ?? whyNoPods());

/**
 * A cluster with a namespace for scripts: that of the tests' own API server, or a real one. Disposal removes what was
 * made.
 */
export interface ScriptsCluster extends AsyncDisposable, Pick<TestCluster, "namespace" | "manager" | "api" | "pods"> {
  /** The kubeconfig of a user with the manager's rights. */
  readonly kubeconfigFile: string;
  /** Names that the pods need, as settings of the manager. */
  readonly podNames: TestCluster["podNames"];
  /** A runner of this cluster in this process. */
  runner(options?: RunnerOptions): ScriptRunner;
  /** Makes pods of this cluster in this process. */
  maker(options?: Partial<KubernetesMakerOptions>): SandboxMaker;
  /** How often a job's script was begun, as the logs of its pods tell that are still there. */
  startsOf(job: string): Promise<number>;
}

export interface RunnerOptions extends Partial<KubernetesMakerOptions> {
  readonly floor?: number;
  readonly ceiling?: number;
}

/** What a pod asks for of a real cluster, which may be as small as one node. */
export const REAL_PROCESSORS = 0.2;
/** The kept bytes of stdout, and of stderr. */
export const RUNNER_KEEPS_BYTES = 64 * 1024;

/** @param options of the tests' own API server; a real cluster is as it is */
export async function openScriptsCluster(options: StartKubernetesApiOptions = {}): Promise<ScriptsCluster> {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(temporaryFolder());
  const cluster = opening.use(await testCluster(options));
  const { namespace, manager, api, podNames } = cluster;
  const kubeconfigFile = folder.write("kubeconfig", "");
  writeKubeconfig(kubeconfigFile, manager);
  const limits = api === undefined ? { ...defaultSandboxLimits, processors: REAL_PROCESSORS } : defaultSandboxLimits;
  const maker: ScriptsCluster["maker"] = (more) =>
    kubernetesMaker({ kubeconfigFile, namespace, ...podNames, limits, ...more });
  const pods = () => cluster.pods();
  const opened = opening.move();
  return {
    namespace,
    manager,
    api,
    podNames,
    pods,
    kubeconfigFile,
    maker,
    runner: ({ floor = 0, ceiling = 8, ...rest } = {}) =>
      pooledRunner(maker(rest), { floor, ceiling, idleMs: 60_000, keepBytes: RUNNER_KEEPS_BYTES, log: silentLogger }),
    async startsOf(job) {
      const logs = await Promise.all(
        (await pods()).filter((pod) => jobOf(pod) === job).map((pod) => cluster.logOf(pod)),
      );
      return logs.flatMap(startsIn).filter((started) => started === job).length;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** The job that a pod was given. */
export const jobOf = ({ metadata }: Pod): string | undefined => metadata.labels?.["rockbot.dev/job"];

/** The jobs that a pod's supervisor says it has started. */
export function startsIn(log: string): readonly string[] {
  return log
    .split("\n")
    .flatMap((line) =>
      line.startsWith('{"frame":"started"') ? [(JSON.parse(line) as { readonly job: string }).job] : [],
    );
}

/** A job that prints its own id. */
export function uniqueJob({
  lines = [],
  timeoutMs = 20_000,
}: {
  readonly lines?: readonly string[];
  readonly timeoutMs?: number;
} = {}): ScriptJob {
  const id = randomBytes(16).toString("hex");
  return { id, script: [...lines, `print(${JSON.stringify(id)}, end="")`].join("\n"), timeoutMs };
}

/**
 * Runs a job in a sandbox that is made for it.
 * @returns how long that took to make, in milliseconds, and what the job wrote
 */
export async function runCold(
  maker: SandboxMaker,
  job: ScriptJob,
  signal: AbortSignal,
): Promise<{ readonly stdout: string; readonly waitMs: number }> {
  const began = performance.now();
  await using sandbox = await maker.make({ jobId: job.id, signal });
  const waitMs = performance.now() - began;
  const { stdout } = await runJob(sandbox, job, { signal, keepBytes: RUNNER_KEEPS_BYTES });
  return { stdout, waitMs };
}
