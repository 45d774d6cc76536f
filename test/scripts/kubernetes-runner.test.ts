import { writeFile } from "node:fs/promises";
import { canaryTargets, checkNetwork, runJob, type Sandbox, type ScriptJob } from "@rockbot/scripts-manager";
import { kubernetesMaker } from "@rockbot/scripts-manager/kubernetes";
import { kubeconfigOf, startTcpFaultProxy, writeKubeconfig } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { noCluster, openScriptsCluster, runCold, uniqueJob } from "../faults/scripts-cluster.ts";

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
      await expect.poll(() => cluster.startsOfJobs.get(job.id), { timeout: 30_000 }).toBe(1);
    }
    await using second = cluster.maker();

    expect(await follow(await second.find?.(job.id, { signal }), job)).toBe(`${Array.from({ length: 20 }, (_, n) => `${n}\n`).join("")}${job.id}`);
    expect(cluster.startsOfJobs.get(job.id)).toBe(1);
  });

  test("a script that is over is not run again: how it ended can be had for a while", async () => {
    await using cluster = await openScriptsCluster();
    const job = uniqueJob();
    await using first = cluster.maker();
    await runCold(first, job, signal);
    await using second = cluster.maker();

    expect(await follow(await second.find?.(job.id, { signal }), job)).toBe(job.id);
    expect(await follow(await second.make({ jobId: job.id, signal }), job)).toBe(job.id);
    expect(cluster.podsOfJobs.get(job.id)?.size).toBe(1);
    expect(cluster.startsOfJobs.get(job.id)).toBe(1);
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
    expect(cluster.startsOfJobs.get(job.id)).toBe(1);
  });

  test("a pod that waited warm is found by the job that it was given, and takes no other", async () => {
    await using cluster = await openScriptsCluster();
    const [job, other] = [uniqueJob(), uniqueJob()];
    await using first = cluster.maker();
    const sandbox = await first.make({ signal });
    await sandbox.assign?.(job.id);
    await expect(sandbox.assign?.(other.id)).rejects.toMatchObject({ code: "unavailable", details: { reason: "sandbox_taken" } });
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
      expect(cluster.pods()).toHaveLength(2);
    }
    expect(cluster.pods()).toEqual([]);
  });

  test("a script prints each line once, although the connections break", async () => {
    await using cluster = await openScriptsCluster();
    await using proxy = await startTcpFaultProxy(cluster.api.url);
    writeKubeconfig(cluster.kubeconfigFile, { ...cluster.api.admin, server: proxy.through(cluster.api.url) });
    await using maker = cluster.maker();
    const job = uniqueJob({ lines: ["import time", "for n in range(40): print(n, flush=True); time.sleep(0.05)"] });
    const sandbox = await maker.make({ jobId: job.id, signal });
    const printed = follow(sandbox, job);
    await expect.poll(() => cluster.startsOfJobs.get(job.id), { timeout: 30_000 }).toBe(1);
    proxy.cutAll();

    expect(await printed).toBe(`${Array.from({ length: 40 }, (_, n) => `${n}\n`).join("")}${job.id}`);
  });

  test("a script that is cancelled is gone with its pod", async () => {
    await using cluster = await openScriptsCluster();
    await using maker = cluster.maker();
    const job = uniqueJob({ lines: ["import time; time.sleep(60)"] });
    const sandbox = await maker.make({ jobId: job.id, signal });
    const cancel = new AbortController();
    const running = runJob(sandbox, job, { signal: cancel.signal, keepBytes: 1_000 });
    await expect.poll(() => cluster.startsOfJobs.get(job.id), { timeout: 30_000 }).toBe(1);
    cancel.abort(new Error("cancelled"));

    await expect(running).rejects.toThrow("cancelled");
    await sandbox[Symbol.asyncDispose]();
    expect(cluster.pods()).toEqual([]);
  });

  test("an id that is none of ours names no pod", async () => {
    await using cluster = await openScriptsCluster();
    await using maker = cluster.maker();

    for (const jobId of ["../../secrets", "a\nb", "x".repeat(10_000), "$HOME", ""]) await expect(maker.make({ jobId, signal })).rejects.toThrow(TypeError);
    expect(cluster.pods()).toEqual([]);
  });

  test("a server whose certificate is not the right one is told nothing", async () => {
    await using cluster = await openScriptsCluster();
    await using other = await openScriptsCluster();
    writeKubeconfig(cluster.kubeconfigFile, { ...cluster.api.admin, certificate: other.api.admin.certificate });
    await using maker = cluster.maker();

    await expect(maker.make({ signal })).rejects.toMatchObject({ code: "unavailable", details: { reason: "cluster_unreachable" } });
    expect(cluster.api.requests).toEqual([]);
  });

  test("a kubeconfig that has no certificate checked is refused, unless that is allowed", async () => {
    await using cluster = await openScriptsCluster();
    const unverified = JSON.parse(kubeconfigOf(cluster.api.admin)) as { clusters: [{ cluster: Record<string, unknown> }] };
    const { server } = cluster.api.admin;
    unverified.clusters[0].cluster = { server, "insecure-skip-tls-verify": true };
    await writeFile(cluster.kubeconfigFile, JSON.stringify(unverified));

    expect(() => kubernetesMaker({ kubeconfigFile: cluster.kubeconfigFile })).toThrow(/certificate would not be verified/);
    await using maker = cluster.maker({ allowUnverifiedTls: true });
    const job = uniqueJob();
    expect((await runCold(maker, job, signal)).stdout).toBe(job.id);
  });

  test.each([
    ["denies", true, "blocked"],
    ["does not deny", false, "reached"],
  ])("it shows at the start that the cluster's network %s what its policy says", async (_, enforcesNetworkPolicies, verdict) => {
    await using cluster = await openScriptsCluster({ enforcesNetworkPolicies });
    await using runner = cluster.runner();
    const targets = canaryTargets({ apiServer: new URL(cluster.api.url), dnsServers: [] }).slice(0, 1);
    const { verdicts, refusal } = await checkNetwork(runner, targets, { signal });

    expect(verdicts).toEqual({ "the API server": verdict });
    expect(refusal === undefined).toBe(enforcesNetworkPolicies);
  });
});
