import { writeFile } from "node:fs/promises";
import { canaryTargets, checkNetwork, runJob, type Sandbox, type ScriptJob } from "@rockbot/sandbox";
import { kubernetesMaker } from "@rockbot/sandbox/kubernetes";
import { kubeconfigOf, startTcpFaultProxy, writeKubeconfig } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { openFaultyCluster } from "../faults/scripts/faulty-cluster.ts";
import {
  jobOf,
  noCluster,
  noOwnCluster,
  openScriptsCluster,
  runCold,
  type ScriptsCluster,
  uniqueJob,
} from "./scripts-cluster.ts";

const { signal } = new AbortController();
const DEADLINE_MS = 60_000;

/** What a job comes to in a sandbox that has it already, or is given it. */
const follow = async (sandbox: Sandbox | undefined, job: ScriptJob): Promise<string> => {
  if (sandbox === undefined) throw new Error("There is no sandbox");
  await using given = sandbox;
  const { stdout } = await runJob(given, job, { signal: AbortSignal.timeout(DEADLINE_MS), keepBytes: 65_536 });
  return stdout;
};

describe.skipIf(noCluster.isSo)(`scripts in pods${noCluster.words}`, { timeout: 120_000 }, () => {
  test("a script that runs is taken up where its manager left it", async () => {
    await using cluster = await openScriptsCluster();
    const job = uniqueJob({ lines: ["import time", "for n in range(20): print(n, flush=True); time.sleep(0.05)"] });
    {
      await using first = cluster.maker();
      const sandbox = await first.make({ jobId: job.id, signal });
      void runJob(sandbox, job, { signal, keepBytes: 65_536 }).catch(() => {});
      await expect.poll(() => cluster.startsOf(job.id), { timeout: 30_000 }).toBe(1);
    }
    await using second = cluster.maker();

    expect(await follow(await second.find?.(job.id, { signal }), job)).toBe(
      `${Array.from({ length: 20 }, (_, n) => `${n}\n`).join("")}${job.id}`,
    );
    expect(await cluster.startsOf(job.id)).toBe(1);
  });

  test.skipIf(noOwnCluster.isSo)(
    `a script that runs outlives its manager, however long other pods take to go${noOwnCluster.words}`,
    async () => {
      await using cluster = await openFaultyCluster();
      const job = uniqueJob({ lines: ["import time; time.sleep(5)"] });
      {
        await using first = cluster.maker();
        await first.make({ signal });
        const sandbox = await first.make({ jobId: job.id, signal });
        void runJob(sandbox, job, { signal, keepBytes: 65_536 }).catch(() => {});
        await expect.poll(() => cluster.startsOf(job.id), { timeout: 30_000 }).toBe(1);
        cluster.api.faults.push({ verb: "delete", resource: "pods", kind: "status", code: 429, retryAfterSeconds: 3 }); // that of the one that waits warm
      }
      await using second = cluster.maker();

      expect(await follow(await second.find?.(job.id, { signal }), job)).toBe(job.id);
      expect(await cluster.startsOf(job.id)).toBe(1);
    },
  );

  test("a script that is over is not run again: how it ended can be had for a while", async () => {
    await using cluster = await openScriptsCluster();
    const job = uniqueJob();
    await using first = cluster.maker();
    await runCold(first, job, signal);
    await using second = cluster.maker();

    expect(await follow(await second.find?.(job.id, { signal }), job)).toBe(job.id);
    expect(await follow(await second.make({ jobId: job.id, signal }), job)).toBe(job.id);
    expect((await cluster.pods()).filter((pod) => jobOf(pod) === job.id)).toHaveLength(1);
    expect(await cluster.startsOf(job.id)).toBe(1);
  });

  test("a script whose pod was ready and that never came there is begun in another", async () => {
    await using cluster = await openScriptsCluster();
    const job = uniqueJob();
    {
      await using first = cluster.maker();
      await first.make({ jobId: job.id, signal });
    }
    await using second = cluster.maker();
    expect(await second.find?.(job.id, { signal })).toBeUndefined();

    expect((await runCold(second, job, signal)).stdout).toBe(job.id);
    expect(await cluster.startsOf(job.id)).toBe(1);
  });

  test("a pod that waited warm is found by the job that it was given, and takes no other", async () => {
    await using cluster = await openScriptsCluster();
    const [job, other] = [uniqueJob(), uniqueJob()];
    await using first = cluster.maker();
    const sandbox = await first.make({ signal });
    await sandbox.assign?.(job);
    await expect(sandbox.assign?.(other)).rejects.toMatchObject({
      code: "unavailable",
      details: { reason: "sandbox_taken" },
    });
    expect(await follow(sandbox, job)).toBe(job.id);
    await using second = cluster.maker();

    expect(await follow(await second.find?.(job.id, { signal }), job)).toBe(job.id);
    expect(await second.find?.(other.id, { signal })).toBeUndefined();
  });

  test("pods that wait warm are gone with their manager", async () => {
    await using cluster = await openScriptsCluster();
    {
      await using maker = cluster.maker();
      await Promise.all([maker.make({ signal }), maker.make({ signal })]);
      expect(await cluster.pods()).toHaveLength(2);
    }
    expect(await cluster.pods()).toEqual([]);
  });

  test.skipIf(noOwnCluster.isSo)(
    `a script prints each line once, although the connections break${noOwnCluster.words}`,
    async () => {
      await using cluster = await openScriptsCluster();
      const { manager, kubeconfigFile } = cluster;
      await using proxy = await startTcpFaultProxy(manager.server);
      writeKubeconfig(kubeconfigFile, { ...manager, server: proxy.through(manager.server) });
      await using maker = cluster.maker();
      const job = uniqueJob({ lines: ["import time", "for n in range(40): print(n, flush=True); time.sleep(0.05)"] });
      const sandbox = await maker.make({ jobId: job.id, signal });
      const printed = follow(sandbox, job);
      await expect.poll(() => cluster.startsOf(job.id), { timeout: 30_000 }).toBe(1);
      proxy.cutAll();

      expect(await printed).toBe(`${Array.from({ length: 40 }, (_, n) => `${n}\n`).join("")}${job.id}`);
    },
  );

  test.skipIf(noOwnCluster.isSo)(
    `the files of a script come out although the connections break${noOwnCluster.words}`,
    async () => {
      await using cluster = await openScriptsCluster();
      const { manager, kubeconfigFile } = cluster;
      await using proxy = await startTcpFaultProxy(manager.server);
      writeKubeconfig(kubeconfigFile, { ...manager, server: proxy.through(manager.server) });
      await using maker = cluster.maker();
      const lines = [
        "import time",
        "for n in range(40): print(n, flush=True); time.sleep(0.05)",
        "open('out/a', 'w').write('a' * 100_000)",
      ];
      const left = new Map<string, number>();
      const onFile = async (name: string, bytes: AsyncIterable<Buffer>): Promise<void> => {
        for await (const part of bytes) left.set(name, (left.get(name) ?? 0) + part.length);
      };
      const job = { ...uniqueJob({ lines }), files: { given: [], mostFiles: 2, mostBytes: 1_000_000, onFile } };
      const sandbox = await maker.make({ jobId: job.id, signal });
      await sandbox.assign?.(job);
      const printed = follow(sandbox, job);
      await expect.poll(() => cluster.startsOf(job.id), { timeout: 30_000 }).toBe(1);
      proxy.cutAll();

      expect(await printed).toBe(`${Array.from({ length: 40 }, (_, n) => `${n}\n`).join("")}${job.id}`);
      expect([...left]).toEqual([["a", 100_000]]);
    },
  );

  test.skipIf(noOwnCluster.isSo)(
    `a script's end is heard although the connection of its log was forgotten${noOwnCluster.words}`,
    async () => {
      await using cluster = await openFaultyCluster();
      await using maker = cluster.maker();
      const job = uniqueJob({ lines: ["import time; time.sleep(1)"] });
      const printed = runCold(maker, job, AbortSignal.timeout(DEADLINE_MS));
      await expect.poll(() => cluster.startsOf(job.id), { timeout: 30_000 }).toBe(1);
      cluster.api.silenceLogs();

      expect((await printed).stdout).toBe(job.id);
    },
  );

  test("a script that is cancelled is gone with its pod", async () => {
    await using cluster = await openScriptsCluster();
    await using maker = cluster.maker();
    const job = uniqueJob({ lines: ["import time; time.sleep(60)"] });
    const sandbox = await maker.make({ jobId: job.id, signal });
    const cancel = new AbortController();
    const running = runJob(sandbox, job, { signal: cancel.signal, keepBytes: 1_000 });
    await expect.poll(() => cluster.startsOf(job.id), { timeout: 30_000 }).toBe(1);
    cancel.abort(new Error("cancelled"));

    await expect(running).rejects.toThrow("cancelled");
    await sandbox[Symbol.asyncDispose]();
    expect(await cluster.pods()).toEqual([]);
  });

  test("an id that is none of ours names no pod", async () => {
    await using cluster = await openScriptsCluster();
    await using maker = cluster.maker();

    for (const jobId of ["../../secrets", "a\nb", "x".repeat(10_000), "$HOME", ""])
      await expect(maker.make({ jobId, signal })).rejects.toThrow(TypeError);
    expect(await cluster.pods()).toEqual([]);
  });

  test.skipIf(noOwnCluster.isSo)(
    `a server whose certificate is not the right one is told nothing${noOwnCluster.words}`,
    async () => {
      await using cluster = await openFaultyCluster();
      await using other = await openScriptsCluster();
      writeKubeconfig(cluster.kubeconfigFile, { ...cluster.manager, certificate: other.manager.certificate });
      await using maker = cluster.maker();

      await expect(maker.make({ signal })).rejects.toMatchObject({
        code: "unavailable",
        details: { reason: "cluster_unreachable" },
      });
      expect(cluster.api.requests).toEqual([]);
    },
  );

  test("a kubeconfig that has no certificate checked is refused, unless that is allowed", async () => {
    await using cluster = await openScriptsCluster();
    const unverified = JSON.parse(kubeconfigOf(cluster.manager)) as {
      clusters: [{ cluster: Record<string, unknown> }];
    };
    const { server } = cluster.manager;
    unverified.clusters[0].cluster = { server, "insecure-skip-tls-verify": true };
    await writeFile(cluster.kubeconfigFile, JSON.stringify(unverified));

    expect(() => kubernetesMaker({ kubeconfigFile: cluster.kubeconfigFile })).toThrow(
      /certificate would not be verified/,
    );
    await using maker = cluster.maker({ allowUnverifiedTls: true });
    const job = uniqueJob();
    expect((await runCold(maker, job, signal)).stdout).toBe(job.id);
  });

  async function verdictsOf(cluster: ScriptsCluster): Promise<Awaited<ReturnType<typeof checkNetwork>>> {
    await using runner = cluster.runner();
    const targets = canaryTargets({ apiServer: new URL(cluster.manager.server), dnsServers: [] }).slice(0, 1);
    return await checkNetwork(runner, targets, { signal });
  }

  test("it shows at the start that the cluster's network denies what its policy says", async () => {
    await using cluster = await openScriptsCluster();

    expect(await verdictsOf(cluster)).toEqual({
      verdicts: { "the API server": "blocked", "the manager": "blocked" },
      refusal: undefined,
    });
  });

  test.skipIf(noOwnCluster.isSo)(`it shows at the start that it does not${noOwnCluster.words}`, async () => {
    await using cluster = await openScriptsCluster({ enforcesNetworkPolicies: false });

    expect(await verdictsOf(cluster)).toEqual({
      verdicts: { "the API server": "reached", "the manager": "reached" },
      refusal: expect.anything(),
    });
  });
});
