import { missingNamespaces } from "@rockbot/testing";
import { expect, test } from "vitest";
import { seededRandom } from "../broker/seeded-random.ts";
import { firstProcessesBelow } from "../scripts/namespace-census.ts";
import { openScriptToolsScene, type ScriptToolsScene } from "../scripts/script-tools-scene.ts";
import { settleCall } from "./agent/settle-calls.ts";
import { atScale, record } from "./figures.ts";

const ROUNDS = atScale(1, 25);
const EFFECTS = 6;
const skipped = missingNamespaces();

/** What is killed under a script, and comes back. */
const kills: Readonly<Record<string, (scene: ScriptToolsScene) => Promise<void>>> = {
  manager: (scene) => scene.killManager(),
  sandbox: async ({ manager }) => {
    for (const pid of firstProcessesBelow(manager.pid)) process.kill(pid, "SIGKILL");
  },
  broker: async ({ broker }) => {
    await broker?.kill();
    await broker?.restart();
  },
  Redis: async ({ redis }) => {
    await redis.kill();
    await redis.restart();
  },
};

test.runIf(skipped === undefined).each(Object.keys(kills))(
  `F42: a script has each effect of its tools once, and tells of all, while its %s is killed${skipped === undefined ? "" : ` (skipped: ${skipped})`}`,
  { timeout: 180_000 * ROUNDS },
  async (what) => {
    await using scene = await openScriptToolsScene({ hasOwnBroker: what === "broker" });
    const { caller, ledger } = scene;
    const random = seededRandom(42);
    const outcomes: Record<string, number> = {};
    for (let round = 0; round < ROUNDS; round++) {
      const id = `${what}-${round}`;
      const script = `
from rockbot import tools
for i in range(${EFFECTS}): tools.effect_fx(id=f"${id}-{i}", holdMs=200)
print("done", end="")`;
      const running = settleCall(caller, "execute_python_script", { script } as never, {
        timeoutMs: 120_000,
        toolCallId: id,
      });
      const effects = async () => [...(await ledger.count("effect"))].filter(([one]) => one.startsWith(`${id}-`));
      const place = Math.floor(random() * EFFECTS);
      await expect.poll(async () => (await effects()).length, { timeout: 60_000 }).toBeGreaterThanOrEqual(place);
      await kills[what]?.(scene);
      const { outcome, content, reason } = await running;
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;

      const seen = await effects();
      expect(seen.filter(([, count]) => count !== 1)).toEqual([]);
      if (outcome === "ok") expect([content, seen.length]).toEqual(["done", EFFECTS]);
      else expect(reason).toMatch(/effect_fx/);
    }
    await record({
      fault: "F42",
      done: `${ROUNDS} scripts with ${EFFECTS} effects each, of which the ${what} is killed at any place`,
      figures: { ...outcomes, "doubled effects": 0 },
    });
  },
);
