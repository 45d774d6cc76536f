import { runJob } from "@rockbot/sandbox";
import { describe, expect, test } from "vitest";
import { noOwnCluster, RUNNER_KEEPS_BYTES, runCold, uniqueJob } from "../scripts/scripts-cluster.ts";
import { atScale, record } from "./figures.ts";
import { type FaultyCluster, openFaultyCluster } from "./scripts/faulty-cluster.ts";

type Fault = FaultyCluster["api"]["faults"][number];

/** Scripts that start during each of the faults. */
const CALLS = atScale(1, 40);
const DEADLINE_MS = 60_000;

/** Faults of watches, with the number of events that get through after the list. */
const faults: Readonly<Record<string, Fault>> = {
  "closed before the first event": { kind: "closed", afterEvents: 0 },
  "closed after an event": { kind: "closed", afterEvents: 1 },
  "half a line": { kind: "halfLine", afterEvents: 1 },
  "410 Gone": { kind: "expired", afterEvents: 1 },
  silent: { kind: "silent" },
  "not answered": { kind: "hang" },
  refused: { kind: "status", code: 500 },
  dropped: { kind: "drop" },
};

describe.skipIf(noOwnCluster.isSo)(`F30: a watch that fails${noOwnCluster.words}`, () => {
  test("delays a script by seconds at most, and none is missed", { timeout: 60_000 + CALLS * 300_000 }, async () => {
    await using cluster = await openFaultyCluster();
    await using maker = cluster.maker();
    const waits: number[] = [];
    for (let i = 0; i < CALLS; i++) {
      for (const [name, fault] of Object.entries(faults)) {
        cluster.api.faults.push({ verb: "watch", resource: "pods", ...fault } as Fault);
        cluster.api.closeWatches();
        const job = uniqueJob();
        const { stdout, waitMs } = await runCold(maker, job, AbortSignal.timeout(DEADLINE_MS));
        expect(stdout, name).toBe(job.id);
        waits.push(waitMs);
        await expect.poll(() => cluster.api.faults, { timeout: 30_000 }).toEqual([]);
      }
    }
    waits.sort((a, b) => a - b);
    const at = (part: number) => Math.round(waits[Math.min(waits.length - 1, Math.floor(waits.length * part))] ?? 0);

    await record({
      fault: "F30",
      done: `${waits.length} scripts while the watch of the pods fails: ${Object.keys(faults).join(", ")}`,
      figures: { answered: waits.length, missed: 0, "start p50 ms": at(0.5), "start p99 ms": at(0.99) },
    });
  });

  test("that has gone silent while a pod starts is not waited for", { timeout: 60_000 }, async () => {
    await using cluster = await openFaultyCluster();
    await using maker = cluster.maker();
    await runCold(maker, uniqueJob(), AbortSignal.timeout(DEADLINE_MS));
    cluster.api.silenceWatches();
    const job = uniqueJob();

    expect((await runCold(maker, job, AbortSignal.timeout(DEADLINE_MS))).stdout).toBe(job.id);
  });

  test("does not make a script seem gone that is taken up", { timeout: 60_000 }, async () => {
    await using cluster = await openFaultyCluster();
    await using second = cluster.maker();
    await expect.poll(() => cluster.api.requests.some(({ verb }) => verb === "watch"), { timeout: 30_000 }).toBe(true);
    cluster.api.silenceWatches();
    const job = uniqueJob({ lines: ["import time; time.sleep(3)"] });
    const signal = AbortSignal.timeout(DEADLINE_MS);
    {
      await using first = cluster.maker();
      const sandbox = await first.make({ jobId: job.id, signal });
      void runJob(sandbox, job, { signal, keepBytes: RUNNER_KEEPS_BYTES }).catch(() => {});
      await expect.poll(() => cluster.startsOf(job.id), { timeout: 30_000 }).toBe(1);
    }
    await using found = await second.find?.(job.id, { signal });

    expect(found && (await runJob(found, job, { signal, keepBytes: RUNNER_KEEPS_BYTES })).stdout).toBe(job.id);
  });

  test("asks the API server for no more than one thing a second, and goes on once it is back", {
    timeout: 90_000,
  }, async () => {
    await using cluster = await openFaultyCluster();
    const { api } = cluster;
    api.faults.push({ verb: "watch", resource: "pods", kind: "status", code: 500, times: 5 });
    const began = performance.now();
    await using _maker = cluster.maker();
    const count = (verb: string) => api.requests.filter((request) => request.verb === verb).length;
    await expect.poll(() => count("watch"), { timeout: 60_000 }).toBe(6);
    const seconds = (performance.now() - began) / 1_000;

    expect(count("list") + count("watch")).toBeLessThanOrEqual(2 + seconds);
    const { length } = api.requests;
    await new Promise((resolve) => setTimeout(resolve, 3_000)); // the good case: nothing is asked
    expect(api.requests.length).toBe(length);
  });
});
