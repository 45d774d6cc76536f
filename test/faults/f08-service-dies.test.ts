import { sharedAmqpUrl, sharedRedisUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { killServiceAt } from "./kill-matrix.ts";
import { killPoints } from "./kill-point.ts";

const CALLS_PER_KIND = 4;
const [busUrl, redisUrl] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);

test("F08: each call whose service dies over it ends in one answer, and where claims are in Redis none with effects runs twice", {
  timeout: 120_000,
}, async () => {
  const cells = killPoints.flatMap((point) => [redisUrl, undefined].map((redis) => ({ point, redisUrl: redis })));
  const rows = (await Promise.all(cells.map((cell) => killServiceAt({ busUrl, ...cell, callsPerKind: CALLS_PER_KIND })))).flat();
  console.table(rows.map(({ point, claims, kind, outcomes, effects }) => ({ point, claims, kind, outcomes: JSON.stringify(outcomes), ...effects })));

  for (const { calls, outcomes, wrong, late } of rows) {
    expect(calls).toBe(CALLS_PER_KIND);
    expect(wrong).toEqual([]);
    expect(late).toBe(0);
    expect(Object.keys(outcomes).every((outcome) => outcome === "ok" || outcome === "outcome_unknown")).toBe(true);
  }
  for (const { kind, claims, point, outcomes, effects } of rows) {
    if (kind !== "effect") {
      expect(outcomes).toEqual({ ok: CALLS_PER_KIND });
      continue;
    }
    if (claims !== "in Redis") continue; // the claims die with the process: what is known of a call depends on when it was sent
    expect(effects.more).toBe(0);
    // What nobody claimed yet, and what is noted, has a known outcome.
    if (point !== "after claim" && point !== "after effect") expect(outcomes).toEqual({ ok: CALLS_PER_KIND });
  }
});
