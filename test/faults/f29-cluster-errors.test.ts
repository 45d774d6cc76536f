import type { ScriptRunner } from "@rockbot/sandbox";
import { managerRights } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { noOwnCluster, uniqueJob } from "../scripts/scripts-cluster.ts";
import { atScale, record } from "./figures.ts";
import { type FaultyCluster, openFaultyCluster } from "./scripts/faulty-cluster.ts";

type Fault = FaultyCluster["api"]["faults"][number];

/** Calls while each of the faults happens. */
const CALLS = atScale(2, 40);
const DEADLINE_MS = 60_000;
const { signal } = new AbortController();

const passing: Readonly<Record<string, Fault>> = {
  "create: 429": { verb: "create", resource: "pods", kind: "status", code: 429, retryAfterSeconds: 1 },
  "create: 500": { verb: "create", resource: "pods", kind: "status", code: 500, times: 3 },
  "create: no answer after it was done": { verb: "create", resource: "pods", kind: "commitThenDrop" },
  "create: no connection": { verb: "create", resource: "pods", kind: "drop" },
  "attach: 500": { verb: "get", resource: "pods/attach", kind: "status", code: 500 },
  "attach: no connection": { verb: "get", resource: "pods/attach", kind: "drop" },
  "log: 500": { verb: "get", resource: "pods/log", kind: "status", code: 500, times: 2 },
  "patch: 503": { verb: "patch", resource: "pods", kind: "status", code: 503 },
  "patch: no answer after it was done": { verb: "patch", resource: "pods", kind: "commitThenDrop" },
  "delete: 500": { verb: "delete", resource: "pods", kind: "status", code: 500 },
  "list: 429": { verb: "list", resource: "pods", kind: "status", code: 429, retryAfterSeconds: 1 },
};

const refused: Readonly<Record<string, { readonly fault: Fault; readonly reason: string; readonly words: RegExp }>> = {
  "no right": {
    fault: {
      verb: "create",
      resource: "pods",
      kind: "status",
      code: 403,
      message:
        'pods is forbidden: User "system:serviceaccount:rockbot:scripts-manager" cannot create resource "pods" in API group "" in the namespace "rockbot-scripts"',
    },
    reason: "cluster_forbidden",
    words: /no right to create pods .* Role must grant that/,
  },
  "not known": {
    fault: { verb: "create", resource: "pods", kind: "status", code: 401 },
    reason: "cluster_unauthorized",
    words: /credentials/,
  },
  "not admitted": {
    fault: {
      verb: "create",
      resource: "pods",
      kind: "status",
      code: 403,
      message: 'pods "x" is forbidden: violates PodSecurity "restricted:latest": privileged',
    },
    reason: "pod_security",
    words: /Pod Security/,
  },
  "out of its range": {
    fault: {
      verb: "create",
      resource: "pods",
      kind: "status",
      code: 403,
      message: 'pods "x" is forbidden: maximum memory usage per Container is 128Mi, but limit is 256Mi',
    },
    reason: "limit_range",
    words: /LimitRange/,
  },
  invalid: {
    fault: { verb: "create", resource: "pods", kind: "status", code: 422 },
    reason: "pod_refused",
    words: /configured/,
  },
};

const run = (runner: ScriptRunner, job = uniqueJob()) =>
  runner.run(job, { signal, deadline: performance.now() + DEADLINE_MS });

describe.skipIf(noOwnCluster.isSo)(`F29: a cluster that answers with errors${noOwnCluster.words}`, () => {
  test("costs a call that passes through them time, and neither its answer nor a second pod", {
    timeout: 60_000 + CALLS * 60_000,
  }, async () => {
    await using cluster = await openFaultyCluster();
    await using runner = cluster.runner({ keepFinishedMs: 0 });
    for (let i = 0; i < CALLS; i++) {
      for (const [name, fault] of Object.entries(passing)) {
        cluster.api.faults.push(fault);
        if (fault.verb === "list") cluster.api.closeWatches();
        const job = uniqueJob();
        const { stdout } = await run(runner, job);
        expect(stdout, name).toBe(job.id);
      }
    }
    await expect.poll(() => cluster.api.faults, { timeout: 20_000 }).toEqual([]); // all of them have happened
    const podsPerCall = [...cluster.podsOfJobs.values()].map(({ size }) => size);

    expect(podsPerCall).toHaveLength(CALLS * Object.keys(passing).length);
    expect(Math.max(...podsPerCall)).toBe(1);
    await record({
      fault: "F29",
      done: `${podsPerCall.length} scripts through errors of the API server: ${Object.keys(passing).join(", ")}`,
      figures: { answered: podsPerCall.length, "pods per call": Math.max(...podsPerCall) },
    });
  });

  test("is told apart, in words for whoever can set it right", { timeout: 60_000 }, async () => {
    for (const [name, { fault, reason, words }] of Object.entries(refused)) {
      await using cluster = await openFaultyCluster();
      await using runner = cluster.runner();
      cluster.api.faults.push(fault);

      await expect(run(runner), name).rejects.toMatchObject({
        code: "unavailable",
        isRetryable: false,
        message: expect.stringMatching(words),
        details: { reason },
      });
    }
  });

  test("uses every right that it is granted, and no other", { timeout: 60_000 }, async () => {
    await using cluster = await openFaultyCluster();
    {
      await using runner = cluster.runner();
      cluster.api.faults.push({ verb: "create", resource: "pods", kind: "commitThenDrop" }); // what is there has to be looked at
      await run(runner);
    }

    expect(cluster.api.usedRights()).toEqual(managerRights());
  });
});
