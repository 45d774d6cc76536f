import { ToolError } from "@rockbot/contracts";
import type { ScriptRunner } from "@rockbot/sandbox";
import { describe, expect, test } from "vitest";
import { jobOf, noOwnCluster, uniqueJob } from "../scripts/scripts-cluster.ts";
import { atScale, record } from "./figures.ts";
import { type FaultyCluster, openFaultyCluster } from "./scripts/faulty-cluster.ts";

/** Pods that end in each of the ways. */
const ROUNDS = atScale(1, 20);
const DEADLINE_MS = 30_000;
const { signal } = new AbortController();
const sleeping = { lines: ["import time; time.sleep(60)"] };

interface PodFault {
  readonly code: string;
  readonly reason: string;
  readonly words: RegExp;
  /** Before the script is given to the runner. */
  readonly before?: (cluster: FaultyCluster) => void;
  /** Once it has started. */
  readonly during?: (cluster: FaultyCluster, pod: string) => Promise<void> | void;
}

const start = (fault: "ErrImagePull" | "CreateContainerConfigError" | "StartError") => (cluster: FaultyCluster) =>
  void cluster.api.node.startFaults.push(fault);
const end = (ending: "OOMKilled" | "Evicted") => (cluster: FaultyCluster, pod: string) =>
  cluster.api.node.end("rockbot-scripts", pod, ending);

const faults: Readonly<Record<string, PodFault>> = {
  OOMKilled: { code: "", reason: "memory", words: /./, during: end("OOMKilled") },
  Evicted: { code: "execution_failed", reason: "evicted", words: /evicted/, during: end("Evicted") },
  "node lost": {
    code: "execution_failed",
    reason: "node_lost",
    words: /machine .* was lost/,
    during: (cluster) => cluster.api.node.lose(),
  },
  "never scheduled": {
    code: "unavailable",
    reason: "unschedulable",
    words: /had room/,
    before: (cluster) => {
      cluster.api.node.isCordoned = true;
    },
  },
  ImagePullBackOff: {
    code: "unavailable",
    reason: "image_pull",
    words: /image .* cannot be pulled/,
    before: start("ErrImagePull"),
  },
  CreateContainerConfigError: {
    code: "unavailable",
    reason: "container_config",
    words: /CreateContainerConfigError/,
    before: start("CreateContainerConfigError"),
  },
  StartError: {
    code: "unavailable",
    reason: "container_start",
    words: /cannot be started \(StartError\)/,
    before: start("StartError"),
  },
};

describe.skipIf(noOwnCluster.isSo)(`F31: a pod that comes to grief${noOwnCluster.words}`, () => {
  test("has an error of its own for each way, and is not left behind", {
    timeout: 60_000 + ROUNDS * 120_000,
  }, async () => {
    const found: Record<string, number> = {};
    for (let i = 0; i < ROUNDS; i++) {
      for (const [name, { code, reason, words, before, during }] of Object.entries(faults)) {
        await using cluster = await openFaultyCluster();
        await using runner = cluster.runner({ scheduleMs: 3_000, keepFinishedMs: 0 });
        before?.(cluster);
        const job = uniqueJob(sleeping);
        const outcome = outcomeOf(runner, job);
        if (during !== undefined) {
          await expect.poll(() => cluster.startsOfJobs.get(job.id), { timeout: 30_000 }).toBe(1);
          await during(cluster, cluster.podOf(job.id));
        }
        const ended = await outcome;
        expect(ended, name).toMatchObject({ code, reason, message: expect.stringMatching(words) });
        await expect
          .poll(async () => (await cluster.pods()).filter((pod) => jobOf(pod) === job.id), { timeout: 30_000 })
          .toEqual([]);
        found[ended.reason] = (found[ended.reason] ?? 0) + 1;
      }
    }

    expect(Object.keys(found)).toHaveLength(Object.keys(faults).length);
    await record({
      fault: "F31",
      done: `${ROUNDS * Object.keys(faults).length} pods that were ${Object.keys(faults).join(", ")}`,
      figures: { "errors told apart": `${Object.keys(found).length} of ${Object.keys(faults).length}`, "pods left": 0 },
    });
  });
});

interface Ended {
  readonly code: string;
  readonly reason: string;
  readonly message: string;
}

/** Memory that is used up is an outcome of the script; all else is an error. */
async function outcomeOf(runner: ScriptRunner, job: ReturnType<typeof uniqueJob>): Promise<Ended> {
  try {
    const { limit } = await runner.run(job, { signal, deadline: performance.now() + DEADLINE_MS });
    return { code: "", reason: String(limit), message: "-" };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { code: error.code, reason: String(error.details?.["reason"]), message: error.message };
  }
}
