import type { Pod } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { jobOf, noOwnCluster, runCold, uniqueJob } from "../scripts/scripts-cluster.ts";
import { startProgram } from "../services/start-service.ts";
import { atScale, record, seed } from "./figures.ts";
import { type FaultyCluster, openFaultyCluster } from "./scripts/faulty-cluster.ts";
import type { ScriptsRunnerOptions } from "./scripts/scripts-runner-options.ts";

/** Managers that are killed. */
const KILLS = atScale(5, 100);
/** Scripts that each of them has at that time. */
const SCRIPTS = 2;
const ORPHANS_MS = 60_000;
const DEADLINE_MS = 60_000;
const { signal } = new AbortController();

/** How far a script has come when its manager is killed; the last are at any time. */
const points: Readonly<Record<string, (cluster: FaultyCluster, job: string) => boolean | Promise<boolean>>> = {
  "its pod is made": ({ podsOfJobs }, job) => podsOfJobs.has(job),
  "its pod runs": (cluster, job) => hasPod(cluster, job, "Running"),
  "it has begun": ({ startsOfJobs }, job) => startsOfJobs.has(job),
  "it is over": (cluster, job) => hasPod(cluster, job, "Succeeded"),
  "something is asked": ({ api }) => api.requests.length > 0,
};

const hasPod = async ({ pods }: FaultyCluster, job: string, phase: string): Promise<boolean> =>
  (await pods()).some((pod) => jobOf(pod) === job && pod.status?.phase === phase);

describe.skipIf(noOwnCluster.isSo)(`F34: a manager that is killed${noOwnCluster.words}`, () => {
  test("leaves no pod behind; its scripts are taken up, none is begun twice, and each is answered", {
    timeout: 120_000 + KILLS * 60_000,
  }, async () => {
    await using cluster = await openFaultyCluster();
    const names = Object.keys(points);
    let answered = 0;
    for (let i = 0; i < KILLS; i++) {
      const name = names[(seed + i) % names.length] as string;
      // Every other manager has warm pods, so that the scripts are given to those.
      const floor = i % 2 === 0 ? 0 : SCRIPTS;
      const jobs = Array.from({ length: SCRIPTS }, () => uniqueJob({ lines: ["import time; time.sleep(0.3)"] }));
      const victim = startRunner({ kubeconfigFile: cluster.kubeconfigFile, namespace: cluster.namespace, floor, jobs });
      await expect
        .poll(async () => (await Promise.all(jobs.map(({ id }) => points[name]?.(cluster, id)))).includes(true), {
          timeout: 30_000,
          interval: 5,
        })
        .toBe(true);
      await victim[Symbol.asyncDispose]();

      await using runner = cluster.runner();
      const outcomes = await Promise.all(
        jobs.map((job) => runner.run(job, { signal, deadline: performance.now() + DEADLINE_MS, mayHaveBegun: true })),
      );
      expect(
        outcomes.map(({ stdout }) => stdout),
        name,
      ).toEqual(jobs.map(({ id }) => id));
      answered += outcomes.length;
    }
    const repeated = [...cluster.startsOfJobs.values()].filter((count) => count > 1);
    const killed = performance.now();
    await using _reaping = cluster.runner(); // another manager, which has nothing to do
    await expect
      .poll(async () => (await cluster.pods()).map(({ metadata }) => metadata.name), { timeout: ORPHANS_MS })
      .toEqual([]);
    const orphansMs = performance.now() - killed;

    expect(repeated).toEqual([]);
    await record({
      fault: "F34",
      done: `${KILLS} managers killed with ${SCRIPTS} scripts each, when ${names.join(", ")}`,
      figures: {
        answered,
        "begun twice": repeated.length,
        "orphans after 60 s": 0,
        "last orphan gone after s": Math.round(orphansMs / 1_000),
      },
    });
  });

  test("finds a namespace that is full of old pods, and cleans it up", { timeout: 180_000 }, async () => {
    const count = atScale(40, 1_000);
    const old = Array.from({ length: count }, (_, index) => oldPod(`rockbot-script-old-${index}`));
    await using cluster = await openFaultyCluster({ pods: old });
    await using runner = cluster.runner();
    const job = uniqueJob();

    expect((await runner.run(job, { signal, deadline: performance.now() + DEADLINE_MS })).stdout).toBe(job.id);
    await expect
      .poll(async () => (await cluster.pods()).filter(({ metadata }) => metadata.name.includes("-old-")), {
        timeout: 120_000,
      })
      .toEqual([]);
  });

  test("deletes pods although deleting them fails at first", { timeout: 120_000 }, async () => {
    await using cluster = await openFaultyCluster();
    await using maker = cluster.maker({ keepFinishedMs: 0 });
    cluster.api.faults.push({ verb: "delete", resource: "pods", kind: "status", code: 500, times: 12 });
    for (const job of Array.from({ length: 3 }, () => uniqueJob())) {
      expect((await runCold(maker, job, AbortSignal.timeout(DEADLINE_MS))).stdout).toBe(job.id);
    }

    await expect.poll(cluster.pods, { timeout: 60_000 }).toEqual([]);
  });

  test("is not held up by pods that cannot go", { timeout: 120_000 }, async () => {
    await using cluster = await openFaultyCluster({ podFinalizers: ["example.com/stuck"] });
    await using maker = cluster.maker({ keepFinishedMs: 0 });
    const jobs = Array.from({ length: 4 }, () => uniqueJob());
    for (const job of jobs) expect((await runCold(maker, job, AbortSignal.timeout(DEADLINE_MS))).stdout).toBe(job.id);

    expect([...cluster.startsOfJobs.values()]).toEqual(jobs.map(() => 1));
  });
});

/** A manager's runner as a process; disposal kills it. */
const startRunner = (options: ScriptsRunnerOptions) =>
  startProgram("test/faults/scripts/scripts-runner-service.ts", { args: [JSON.stringify(options)] });

/** As a manager of long ago has left it. */
function oldPod(name: string): Pod {
  const labels = { app: "rockbot-script", "rockbot.dev/owner": "long-gone", "rockbot.dev/state": "starting" };
  const security = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    runAsNonRoot: true,
    seccompProfile: { type: "RuntimeDefault" },
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "rockbot-scripts",
      labels,
      annotations: { "rockbot.dev/deadline": new Date(0).toISOString() },
    },
    // No node has such a label: they wait for ever.
    spec: {
      nodeSelector: { "example.com/none": "true" },
      containers: [{ name: "script", image: "python:3.12-slim", securityContext: security }],
    },
  };
}
