import { faultServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { countOutcomes, type SettledCall, settleCall } from "./agent/settle-calls.ts";
import { atScale, record } from "./figures.ts";
import {
  checkOutcomes,
  compared,
  DEADLINE_MS,
  durations,
  durationsWhile,
  type McpFault,
  untilBack,
} from "./mcp-faults.ts";
import { openMcpScene } from "./mcp-scene.ts";

/** The number of each kind of fault. */
const FAULTS = atScale(1, 64);

const programFaults: Readonly<Record<string, McpFault>> = {
  crash: { outcome: /^outcome_unknown$/ },
  segfault: { outcome: /^outcome_unknown$/ },
  hang: { outcome: /^timeout$/, timeoutMs: 500 },
  garbage: { outcome: /^ok$/ },
  long_line: { outcome: /^too_large$/ },
  wrong_id: { outcome: /^timeout$/, timeoutMs: 500 },
  flood: { outcome: /^timeout$/, timeoutMs: 500 },
  grow: { outcome: /^ok$/ },
  escaped: { outcome: /^ok$/ },
};

test("F27: a program that misbehaves costs the calls that meet it a typed error, and nobody else anything; it comes back, and leaves no process", {
  timeout: 90_000 + FAULTS * 20_000,
}, async () => {
  const names = Object.keys(programFaults);
  const servers = Object.fromEntries([...names, "calm"].map((name) => [name, faultServer()]));
  await using scene = await openMcpScene(servers, { sharesClaims: false });
  const { caller } = scene;
  const bridge = await scene.startBridge([...names, "calm"]);
  await expect
    .poll(() => [...names, "calm"].filter((name) => caller.tools.getExecutor(`${name}__echo`) === undefined), {
      timeout: 30_000,
    })
    .toEqual([]);
  const idle = await durations(scene, atScale(20, 500));
  const escaped: number[] = [];
  /**
   * One server misbehaves at a time, as often as it can: what others' calls take is its doing, not that of a machine
   * full of starting programs.
   */
  async function misbehave(name: string): Promise<SettledCall[]> {
    const met: SettledCall[] = [];
    for (let i = 0; i < FAULTS; i++) {
      const { timeoutMs = DEADLINE_MS } = programFaults[name] as McpFault;
      const settled = await settleCall(caller, `${name}__${name}`, { id: String(i) }, { timeoutMs });
      met.push(settled);
      if (name === "escaped") escaped.push(Number(settled.content));
      // One that floods goes on with it: only its end ends that.
      if (name === "flood" || name === "escaped")
        await settleCall(caller, `${name}__crash`, { id: "end" }, { timeoutMs: DEADLINE_MS });
      await untilBack(caller, name);
    }
    return met;
  }
  async function misbehaveInTurn(): Promise<(readonly [string, readonly SettledCall[]])[]> {
    const met: (readonly [string, readonly SettledCall[]])[] = [];
    for (const name of names) met.push([name, await misbehave(name)]);
    return met;
  }
  const faults = misbehaveInTurn();
  const [met, meanwhile] = await Promise.all([faults, durationsWhile(scene, faults)]);
  bridge.kill("SIGTERM");
  expect(await bridge.ended).toBe(0);
  await expect.poll(() => scene.alive(escaped), { timeout: 20_000 }).toBe(0);

  checkOutcomes(met, programFaults);
  await record({
    fault: "F27",
    done: `${met.length * FAULTS} faults of MCP servers: ${names.join(", ")}`,
    figures: {
      ...countOutcomes(met.flatMap(([, calls]) => calls)),
      late: 0,
      "processes started": scene.started + escaped.length,
      "processes left": 0,
      ...compared(idle, meanwhile),
    },
  });
});
