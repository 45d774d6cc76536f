import { missingNamespaces } from "@rockbot/testing";
import { expect, test } from "vitest";
import { openScriptToolsScene } from "./script-tools-scene.ts";

const skipped = missingNamespaces();

test.runIf(skipped === undefined)(
  `a script whose manager is killed again and again has each effect once, and ends with its value${skipped === undefined ? "" : ` (skipped: ${skipped})`}`,
  { timeout: 180_000 },
  async () => {
    await using scene = await openScriptToolsScene();
    const { caller, ledger } = scene;
    const script = `
from rockbot import tools
total = 0
for i in range(20):
    if i % 4 == 3: total += len(tools.effect_fx(id=f"effect-{i}", holdMs=300))
    else: total += len(tools.read_fx(id=f"read-{i}", holdMs=20))
pages = tools.parallel([tools.a.read_fx(id=f"beside-{i}") for i in range(10)])
print(total, len(pages))
`;
    const running = caller.call(
      "execute_python_script",
      { script, timeout_seconds: 60 },
      { timeoutMs: 150_000, toolCallId: "killed" },
    );
    for (const steps of [4, 13]) {
      await expect
        .poll(async () => (await ledger.count("effect")).size, { timeout: 60_000 })
        .toBeGreaterThanOrEqual(steps);
      await scene.killManager();
    }
    const { content, isError } = await running;

    const done = await ledger.count("effect");
    const effects = [...done].filter(([id]) => id.startsWith("effect"));
    expect([content, isError]).toEqual(["140 10\n", false]);
    expect(effects.map(([, count]) => count)).toEqual([1, 1, 1, 1, 1]);
  },
);
