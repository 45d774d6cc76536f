import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { silentLogger } from "@rockbot/bus";
import {
  containerMaker,
  defaultSandboxLimits,
  engineSocket,
  localWays,
  openLocalMaker,
  pooledRunner,
  type SandboxMaker,
  type ScriptOutcome,
  type ScriptRunner,
  supervisorCommand,
} from "@rockbot/scripts-manager";
import { canRunContainers, hasBubblewrap, missingNamespaces } from "@rockbot/testing";
import { describe, expect, test, vi } from "vitest";
import { hostileScripts } from "./hostile-scripts.ts";
import { livePidNamespaces, PRINT_NAMESPACE } from "./namespace-census.ts";

const limits = { ...defaultSandboxLimits, memoryBytes: 128 * 1024 * 1024, processes: 32, storageBytes: 16 * 1024 * 1024, storageFiles: 1_000 };
const KEEP_BYTES = 64 * 1024;
/** What the manager may grow by while scripts flood it: what it keeps, and what is on its way. */
const MANAGER_BYTES = 64 * 1024 * 1024;

const IMAGE = process.env["ROCKBOT_TEST_PYTHON_IMAGE"] ?? "python:3.12-slim";

const noNamespaces = missingNamespaces();
const runners = {
  "local scripts by unshare": { skipped: noNamespaces, open: () => openLocal("unshare") },
  "local scripts by bubblewrap": {
    skipped: noNamespaces ?? ((await hasBubblewrap()) ? undefined : "bubblewrap is not installed, and cannot be"),
    open: () => openLocal("bubblewrap"),
  },
  "scripts in containers": {
    skipped: (await canRunContainers(IMAGE)) ? undefined : `no Docker engine has ${IMAGE}`,
    open: async () =>
      pooled(
        containerMaker({
          socketPath: engineSocket(process.env["DOCKER_HOST"]),
          image: IMAGE,
          command: supervisorCommand("python3", limits),
          limits,
          owner: `test-${randomUUID()}`,
        }),
      ),
  },
};

async function openLocal(way: keyof typeof localWays): Promise<ScriptRunner> {
  return pooled(await openLocalMaker({ log: silentLogger, limits, ways: [localWays[way]], path: process.env["PATH"] }));
}

function pooled(maker: SandboxMaker): ScriptRunner {
  return pooledRunner(maker, { floor: 2, ceiling: 4, idleMs: 60_000, keepBytes: KEEP_BYTES, log: silentLogger });
}

function run(runner: ScriptRunner, script: string, timeoutMs: number): Promise<ScriptOutcome> {
  return runner.run(
    { id: randomBytes(16).toString("hex"), script, timeoutMs },
    { signal: new AbortController().signal, deadline: performance.now() + 120_000 },
  );
}

/** Runs innocent scripts one after another beside `work`. @returns how long each took, in milliseconds */
async function innocentsBeside(runner: ScriptRunner, work: Promise<unknown>): Promise<number[]> {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  const times: number[] = [];
  while (!isOver || times.length < 5) {
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

for (const [name, { skipped, open }] of Object.entries(runners)) {
  const label = skipped === undefined ? name : `${name} (skipped: ${skipped})`;
  describe.runIf(skipped === undefined)(label, () => {
    test("hold hostile scripts: nothing survives them, nothing is learned, nothing gets out", { timeout: 600_000 }, async () => {
      vi.stubEnv("SECRET", "SECRET-OF-THE-MANAGER");
      let visits = 0;
      const visited = createServer(() => visits++).listen(0, "0.0.0.0");
      await once(visited, "listening");
      const report: string[] = [];
      {
        await using runner = await open();
        const alone = await innocentsBeside(runner, Promise.resolve());
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
