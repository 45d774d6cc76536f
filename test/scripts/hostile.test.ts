import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { silentLogger } from "@rockbot/bus";
import { defaultSandboxLimits, pooledRunner, type ScriptOutcome, type ScriptRunner } from "@rockbot/sandbox";
import { describe, expect, test, vi } from "vitest";
import { atScale, record } from "../faults/figures.ts";
import { type HostileScript, hostileScripts } from "./hostile-scripts.ts";
import { livePidNamespaces, PRINT_NAMESPACE } from "./namespace-census.ts";
import { containers, localMakers } from "./open-makers.ts";

const limits = {
  ...defaultSandboxLimits,
  memoryBytes: 128 * 1024 * 1024,
  processes: 32,
  storageBytes: 16 * 1024 * 1024,
  storageFiles: 1_000,
};
const KEEP_BYTES = 64 * 1024;
/** What the manager may grow by while scripts flood it: what it keeps, and what is on its way. */
const MANAGER_BYTES = 64 * 1024 * 1024;
/** Innocent scripts without a hostile one, against which those beside one are held. */
const ALONE = atScale(5, 50);
/** And beside each hostile one, at least; in the soak as many as come to an end while it runs. */
const BESIDE = atScale(1, 5);
const isSoak = atScale(0, 1) > 0;

function run(runner: ScriptRunner, script: string, timeoutMs: number): Promise<ScriptOutcome> {
  return runner.run(
    { id: randomBytes(16).toString("hex"), script, timeoutMs },
    { signal: new AbortController().signal, deadline: performance.now() + 120_000 },
  );
}

/**
 * Runs innocent scripts one after another beside `work`, `least` of them at least.
 * @returns how long each took, in milliseconds
 */
async function innocentsBeside(runner: ScriptRunner, work: Promise<unknown>, least = BESIDE): Promise<number[]> {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  const times: number[] = [];
  while ((isSoak && !isOver) || times.length < least) {
    const begun = performance.now();
    expect(await run(runner, "print(sum(range(1000)))", 60_000)).toMatchObject({ stdout: "499500\n", exitCode: 0 });
    times.push(performance.now() - begun);
  }
  await ended;
  return times;
}

/** A namespace that has lost its first process is ending, and not gone. */
function isAlive(namespace: string): boolean {
  const live = livePidNamespaces();
  return live.has(namespace) || live.has(namespace.replace(/@.*/, "@without its first process"));
}

const p99 = (times: readonly number[]): number =>
  Math.round(times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? 0);

/** What the scripts of one row came to. */
interface Tally {
  readonly names: string[];
  readonly othersMs: number[];
  grownBytes: number;
}

const MIB = 1024 * 1024;

for (const { kind, missing, open } of [...localMakers, containers]) {
  const name = `sandboxes of the kind ${kind}`;
  describe.runIf(missing === undefined)(missing === undefined ? name : `${name} (skipped: ${missing})`, () => {
    test("hold hostile scripts: nothing survives them, nothing is learned, nothing gets out", {
      timeout: 600_000,
    }, async () => {
      vi.stubEnv("SECRET", "SECRET-OF-THE-MANAGER");
      let visits = 0;
      const visited = createServer(() => visits++).listen(0, "0.0.0.0");
      await once(visited, "listening");
      const tallies = new Map<HostileScript["row"], Tally>();
      let alone: number[];
      {
        await using opened = await open(limits);
        await using runner = pooledRunner(opened.maker, {
          floor: 2,
          ceiling: 4,
          idleMs: 60_000,
          keepBytes: KEEP_BYTES,
          log: silentLogger,
        });
        alone = await innocentsBeside(runner, Promise.resolve(), ALONE);
        for (const { name: what, row, script, timeoutMs = 10_000, limit, prints } of hostileScripts(
          (visited.address() as { port: number }).port,
        )) {
          const rssBefore = process.memoryUsage.rss();
          const hostile = run(runner, PRINT_NAMESPACE + script, timeoutMs);
          const others = await innocentsBeside(runner, hostile);
          const outcome = await hostile;
          const [where = ""] = outcome.stderr.split("\n");
          expect(where, what).toMatch(/^pid:\[\d+\]@\d+$/);
          // The sandbox is thrown away after its outcome was given.
          await expect.poll(() => isAlive(where), { timeout: 10_000, message: `survivors of: ${what}` }).toBe(false);
          if (limit !== undefined) expect(outcome.limit, `${what}: ${outcome.stderr.slice(-500)}`).toBe(limit);
          if (prints !== undefined) expect(outcome.stdout.trim(), what).toBe(prints);
          expect(outcome.stdout.length + outcome.stderr.length, what).toBeLessThanOrEqual(2 * KEEP_BYTES);
          expect(outcome.durations.runMs, what).toBeLessThan(timeoutMs + 10_000);
          const grownBytes = process.memoryUsage.rss() - rssBefore;
          expect(grownBytes, `${what}: bytes that the manager grew by`).toBeLessThan(MANAGER_BYTES);
          const tally = tallies.get(row) ?? { names: [], othersMs: [], grownBytes: 0 };
          tallies.set(row, tally);
          tally.names.push(what);
          tally.othersMs.push(...others);
          tally.grownBytes = Math.max(tally.grownBytes, grownBytes);
        }
      }
      visited.close();
      vi.unstubAllEnvs();
      expect(visits).toBe(0);
      for (const [row, { names, othersMs, grownBytes }] of tallies) {
        await record({
          fault: `${row} ${kind}`,
          done: `${names.length} scripts beside ${othersMs.length} innocent ones: ${names.join(", ")}`,
          figures: {
            survivors: 0,
            secrets: 0,
            packets: visits,
            "others' p99, ms": p99(othersMs),
            "times theirs alone": (p99(othersMs) / p99(alone)).toFixed(1),
            "manager's growth, MiB": Math.round(grownBytes / MIB),
          },
        });
      }
    });
  });
}
