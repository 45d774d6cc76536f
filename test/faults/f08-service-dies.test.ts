import { sharedAmqpUrl, sharedRedisUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { atScale, record } from "./figures.ts";
import { type KillMatrixRow, killServiceAt } from "./kills/kill-matrix.ts";
import { killPoints } from "./kills/kill-point.ts";

/** The calls of each kind, over which one service dies at one point. */
const CALLS_PER_KIND = atScale(20, 100);
const ROUNDS = atScale(1, 2);
const [busUrl, redisUrl] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);

test("F08: each call whose service dies over it ends in one answer, and none with effects runs twice, wherever claims are", {
  timeout: ROUNDS * 120_000,
}, async () => {
  const rows: KillMatrixRow[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const redis of [redisUrl, undefined]) {
      rows.push(
        ...(
          await Promise.all(
            killPoints.map((point) => killServiceAt({ busUrl, redisUrl: redis, point, callsPerKind: CALLS_PER_KIND })),
          )
        ).flat(),
      );
    }
  }

  for (const { calls, outcomes, wrong, late } of rows) {
    expect(calls).toBe(CALLS_PER_KIND);
    expect(wrong).toEqual([]);
    expect(late).toBe(0);
    expect(["ok", "outcome_unknown"]).toEqual(expect.arrayContaining(Object.keys(outcomes)));
  }
  for (const { kind, claims, point, outcomes, effects } of rows) {
    if (kind !== "effect") {
      expect(outcomes).toEqual({ ok: CALLS_PER_KIND });
      continue;
    }
    expect(effects.more).toBe(0);
    if (claims !== "in Redis") continue; // they die with the process, and of what comes again nothing is known
    // What nobody claimed yet, and what is noted, has a known outcome.
    if (point !== "after claim" && point !== "after effect") expect(outcomes).toEqual({ ok: CALLS_PER_KIND });
  }
  for (const row of addUp(rows)) {
    const { point, claims, kind, calls, outcomes, effects } = row;
    await record({
      fault: "F08",
      done: `${calls} calls of \`${kind}\`, claims ${claims}, service killed ${point}`,
      figures: {
        lost: 0,
        ...outcomes,
        "doubled effects": effects.more,
        "no effect": effects.none,
        crossed: 0,
        late: 0,
      },
    });
  }
});

/** The rounds of each cell together. */
function addUp(rows: readonly KillMatrixRow[]): KillMatrixRow[] {
  const cells = Object.groupBy(rows, ({ point, claims, kind }) => `${kind} ${claims} ${point}`);
  return Object.values(cells).flatMap((ofCell = []) =>
    ofCell.slice(1).reduce<KillMatrixRow[]>(
      ([sum], row) =>
        sum === undefined
          ? []
          : [
              {
                ...sum,
                calls: sum.calls + row.calls,
                outcomes: addCounts(sum.outcomes, row.outcomes),
                effects: {
                  none: sum.effects.none + row.effects.none,
                  one: sum.effects.one + row.effects.one,
                  more: sum.effects.more + row.effects.more,
                },
              },
            ],
      ofCell.slice(0, 1),
    ),
  );
}

function addCounts(
  one: Readonly<Record<string, number>>,
  other: Readonly<Record<string, number>>,
): Record<string, number> {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(names.map((name) => [name, (one[name] ?? 0) + (other[name] ?? 0)]));
}
