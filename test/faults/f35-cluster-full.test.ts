import { ToolError } from "@rockbot/contracts";
import { describe, expect, test } from "vitest";
import { noOwnCluster, uniqueJob } from "../scripts/scripts-cluster.ts";
import { peakMemoryMb } from "./effects/peak-memory.ts";
import { atScale, record } from "./figures.ts";
import { openFaultyCluster } from "./scripts/faulty-cluster.ts";

const SCRIPTS = atScale(12, 50);
/** The most pods that the quota grants. */
const ROOM = 3;
const { signal } = new AbortController();

describe.skipIf(noOwnCluster.isSo)(`F35: a cluster without room${noOwnCluster.words}`, () => {
  test("has scripts wait for their turn until their deadline", { timeout: 60_000 + SCRIPTS * 5_000 }, async () => {
    await using cluster = await openFaultyCluster({ mostPods: ROOM });
    await using runner = cluster.runner({ ceiling: SCRIPTS });
    const deadline = performance.now() + 40_000 + SCRIPTS * 4_000;
    const began = performance.now();
    const jobs = Array.from({ length: SCRIPTS }, () => uniqueJob());
    const outcomes = await Promise.all(jobs.map((job) => runner.run(job, { signal, deadline })));

    expect(outcomes.map(({ stdout }) => stdout)).toEqual(jobs.map(({ id }) => id));
    expect([...cluster.startsOfJobs.values()].every((count) => count === 1)).toBe(true);
    const refused = cluster.api.requests.filter(({ verb, status }) => verb === "create" && status === 403).length;
    expect(refused).toBeLessThan(4 * SCRIPTS); // where all try whenever one ends, it is three times as many
    await record({
      fault: "F35",
      done: `${SCRIPTS} scripts at once, where a quota grants ${ROOM} pods`,
      figures: {
        answered: outcomes.length,
        "all after s": Math.round((performance.now() - began) / 1_000),
        "refused by the quota": refused,
        "peak MB": peakMemoryMb(),
      },
    });
  });

  test("says so to scripts that get no turn in time", { timeout: 60_000 }, async () => {
    await using cluster = await openFaultyCluster({ mostPods: 0 });
    await using runner = cluster.runner();
    const error = await runner
      .run(uniqueJob(), { signal, deadline: performance.now() + 2_000 })
      .catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(ToolError);
    expect(error).toMatchObject({
      code: "overloaded",
      isRetryable: true,
      retryAfterMs: expect.any(Number),
      message: expect.stringMatching(/As many sandboxes as the cluster grants/),
    });
  });
});
