import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { silentLogger } from "@rockbot/bus";
import { defaultSandboxLimits, pooledRunner, type ScriptOutcome, type ScriptRunner } from "@rockbot/scripts-manager";
import { describe, expect, test, vi } from "vitest";
import { hostileScripts } from "./hostile-scripts.ts";
import { livePidNamespaces, PRINT_NAMESPACE } from "./namespace-census.ts";
import { containers, localMakers } from "./open-makers.ts";

const limits = { ...defaultSandboxLimits, memoryBytes: 128 * 1024 * 1024, processes: 32, storageBytes: 16 * 1024 * 1024, storageFiles: 1_000 };
const KEEP_BYTES = 64 * 1024;
/** What the manager may grow by while scripts flood it: what it keeps, and what is on its way. */
const MANAGER_BYTES = 64 * 1024 * 1024;
/** Innocent scripts without a hostile one, against which those beside one are held. */
const ALONE = 50;

function run(runner: ScriptRunner, script: string, timeoutMs: number): Promise<ScriptOutcome> {
  return runner.run(
    { id: randomBytes(16).toString("hex"), script, timeoutMs },
    { signal: new AbortController().signal, deadline: performance.now() + 120_000 },
  );
}

/** Runs innocent scripts one after another beside `work`, `least` of them at least. @returns how long each took, in milliseconds */
async function innocentsBeside(runner: ScriptRunner, work: Promise<unknown>, least = 5): Promise<number[]> {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  const times: number[] = [];
  while (!isOver || times.length < least) {
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

const p99 = (times: readonly number[]): string => `${times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1]?.toFixed(0)} ms`;

for (const { kind, missing, open } of [...localMakers, containers]) {
  const name = `sandboxes of the kind ${kind}`;
  describe.runIf(missing === undefined)(missing === undefined ? name : `${name} (skipped: ${missing})`, () => {
    test("hold hostile scripts: nothing survives them, nothing is learned, nothing gets out", { timeout: 600_000 }, async () => {
      vi.stubEnv("SECRET", "SECRET-OF-THE-MANAGER");
      let visits = 0;
      const visited = createServer(() => visits++).listen(0, "0.0.0.0");
      await once(visited, "listening");
      const report: string[] = [];
      {
        await using opened = await open(limits);
        await using runner = pooledRunner(opened.maker, { floor: 2, ceiling: 4, idleMs: 60_000, keepBytes: KEEP_BYTES, log: silentLogger });
        const alone = await innocentsBeside(runner, Promise.resolve(), ALONE);
        report.push(`${"innocents alone".padEnd(36)} p99 ${p99(alone)}`);
        for (const { name: what, script, timeoutMs = 10_000, limit, prints } of hostileScripts((visited.address() as { port: number }).port)) {
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
          expect(process.memoryUsage.rss() - rssBefore, `${what}: bytes that the manager grew by`).toBeLessThan(MANAGER_BYTES);
          report.push(`${what.padEnd(36)} ${String(outcome.limit ?? outcome.signal ?? outcome.exitCode).padEnd(10)} survivors 0   others' p99 ${p99(others)}`);
        }
      }
      visited.close();
      vi.unstubAllEnvs();
      process.stderr.write(`${name}\n${report.map((line) => `  ${line}\n`).join("")}  secrets 0, packets ${visits}\n`);
      expect(visits).toBe(0);
    });
  });
}
