import { faultServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { type SettledCall, settleCall, tally, unharmed } from "./agent/settle-calls.ts";
import { atScale, record } from "./figures.ts";
import { type McpScene, openMcpScene } from "./mcp-scene.ts";

/**
 * Pairs of an older and a younger bridge, in each of which the older one is killed and the next one started, again and
 * again.
 */
const PAIRS = atScale(1, 4);
const KILLS_PER_PAIR = atScale(2, 50);
/** The calls of a server that any replica calls, over each kill. */
const CALLS = 8;
/**
 * Over every so manieth kill there are calls of a server with state, too: to have it again takes as long as a lease.
 */
const STATEFUL_EVERY = atScale(1, 4);
const STATEFUL_CALLS = 2;
const HOLD_MS = 4_000;
const DEADLINE_MS = 60_000;

test("each call over which its bridge is killed ends in an answer or as of unknown outcome, none runs twice, and servers go with their bridges", {
  timeout: 180_000 + KILLS_PER_PAIR * 60_000,
}, async () => {
  await using scene = await openMcpScene({
    plain: faultServer("heedless"),
    keeps: { ...faultServer("heedless"), stateful: true },
  });
  const settled = (
    await Promise.all(Array.from({ length: PAIRS }, (_, pair) => killAgainAndAgain(scene, pair)))
  ).flat();
  const effects = new Map<string, number>();
  for (const id of scene.lines("ledger")) effects.set(id, (effects.get(id) ?? 0) + 1);
  const last = await scene.startBridge(); // ends what those that were killed have left behind
  last.kill("SIGTERM");
  expect(await last.ended).toBe(0);
  await expect.poll(() => scene.alive(), { timeout: 20_000 }).toBe(0);

  expect(settled.filter(({ outcome }) => !["ok", "outcome_unknown", "unavailable"].includes(outcome))).toEqual([]); // says what they were told
  const figures = tally(settled, effects);
  const { ok = 0, outcome_unknown: unknown = 0, unavailable: refused } = figures;
  expect(figures).toEqual(
    unharmed({ ok, outcome_unknown: unknown, ...(refused === undefined ? {} : { unavailable: refused }) }),
  );
  expect(settled.filter(({ id, outcome }) => outcome === "ok" && effects.get(id) !== 1)).toEqual([]);
  expect(settled.filter(({ id, outcome }) => outcome === "unavailable" && effects.has(id))).toEqual([]); // refused, and not run
  await record({
    fault: "bridge",
    done: `${settled.length} calls over ${PAIRS * KILLS_PER_PAIR} kills of replicas of mcp-bridge, ${PAIRS + 1} to ${2 * PAIRS} of which run`,
    figures: { ...figures, "processes started": scene.started, "processes left": 0 },
  });
});

async function killAgainAndAgain(scene: McpScene, pair: number): Promise<SettledCall[]> {
  const { caller } = scene;
  const calls: Promise<SettledCall>[] = [];
  const ended = new Set<string>();
  const note = (server: string, id: string): string => {
    const call = settleCall(
      caller,
      `${server}__note`,
      { id, file: scene.file("ledger"), line: id, holdMs: HOLD_MS },
      { timeoutMs: DEADLINE_MS },
    );
    void call.then(() => ended.add(id));
    calls.push(call);
    return id;
  };
  let older = await scene.startBridge(["plain"]);
  const isKnown = (tool: string) => caller.tools.getExecutor(tool) !== undefined;
  await expect.poll(() => isKnown("plain__note") && isKnown("keeps__note"), { timeout: 60_000 }).toBe(true);
  for (let kill = 0; kill < KILLS_PER_PAIR; kill++) {
    const younger = await scene.startBridge(["plain"]);
    const ids = Array.from({ length: CALLS }, (_, i) => note("plain", `plain-${pair}-${kill}-${i}`));
    if (kill % STATEFUL_EVERY === 0)
      ids.push(...Array.from({ length: STATEFUL_CALLS }, (_, i) => note("keeps", `keeps-${pair}-${kill}-${i}`)));
    // Each has begun, or has ended: its bridge may be one of another pair, and be killed first.
    await expect
      .poll(() => missing(ids, [...scene.lines("ledger"), ...ended]), { timeout: 2 * DEADLINE_MS })
      .toEqual([]);
    older.kill("SIGKILL"); // if it has the server with state, one of those that are left takes it over
    await older.ended;
    older = younger;
  }
  const settled = await Promise.all(calls);
  older.kill("SIGTERM");
  expect(await older.ended).toBe(0);
  return settled;
}

function missing(ids: readonly string[], there: readonly string[]): string[] {
  const found = new Set(there);
  return ids.filter((id) => !found.has(id));
}
