import { type KubernetesApi, logIn, type StartKubernetesApiOptions } from "@rockbot/testing";
import {
  jobOf,
  noOwnCluster,
  openScriptsCluster,
  type ScriptsCluster,
  startsIn,
} from "../../scripts/scripts-cluster.ts";

/**
 * A cluster whose API server does as a test says, and whose pods are looked at all the time: those that are gone are
 * counted too.
 */
export interface FaultyCluster extends ScriptsCluster {
  readonly api: KubernetesApi;
  /** The name of the pod that has a job. @throws {Error} if there is none, or more than one */
  podOf(job: string): string;
  /** The pods that there have been of each job. */
  readonly podsOfJobs: ReadonlyMap<string, ReadonlySet<string>>;
  /** How often each job's script was begun, as the logs of the pods have told. */
  readonly startsOfJobs: ReadonlyMap<string, number>;
}

/** How often the pods are looked at: none is there for a shorter time. */
const LOOK_MS = 10;

/** @throws {Error} where a real cluster is used: see `noOwnCluster` */
export async function openFaultyCluster(options: StartKubernetesApiOptions = {}): Promise<FaultyCluster> {
  await using opening = new AsyncDisposableStack();
  const cluster = opening.use(await openScriptsCluster(options));
  const { api } = cluster;
  if (api === undefined) throw new Error(`Cannot bring about faults: ${noOwnCluster.why ?? "the cluster has none"}`);
  const podsOfJobs = new Map<string, Set<string>>();
  const startsOfPods = new Map<string, readonly string[]>();
  const look = (): void => {
    for (const pod of api.pods()) {
      const { uid = "" } = pod.metadata;
      const job = jobOf(pod);
      if (job !== undefined) podsOfJobs.set(job, (podsOfJobs.get(job) ?? new Set()).add(uid));
      startsOfPods.set(uid, startsIn(logIn(api, pod)));
    }
  };
  const looking = setInterval(look, LOOK_MS);
  opening.defer(() => clearInterval(looking));
  const opened = opening.move();
  return {
    ...cluster,
    api,
    podOf(job) {
      const [pod, another] = api.pods().filter((one) => jobOf(one) === job);
      if (pod === undefined || another !== undefined)
        throw new Error(`Expected one pod of the job, there ${pod === undefined ? "is none" : "are more"}`);
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
