import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Logger, silentLogger } from "@rockbot/bus";
import { hasBubblewrap, missingNamespaces, temporaryFolder } from "@rockbot/testing";
import { afterAll, describe, expect, test } from "vitest";
import { testScriptRunner } from "../conformance/test-script-runner.ts";
import { pooledRunner } from "../pool/pooled-runner.ts";
import { defaultSandboxLimits, type SandboxLimits } from "../sandbox-limits.ts";
import type { ScriptRunner } from "../script-runner.ts";
import { findCgroups } from "./cgroup.ts";
import { type LocalMakerOptions, localWays, openLocalMaker } from "./local-maker.ts";
import type { Way } from "./way.ts";

const limits: SandboxLimits = {
  ...defaultSandboxLimits,
  memoryBytes: 128 * 1024 * 1024,
  processes: 24,
  storageBytes: 24 * 1024 * 1024,
  storageFiles: 500,
};
const keepBytes = 64 * 1024;
const path = process.env["PATH"] ?? "";

const packages = temporaryFolder();
afterAll(() => packages[Symbol.dispose]());
chmodSync(packages.path, 0o755); // scripts have another user
mkdirSync(join(packages.path, "layer"));
writeFileSync(join(packages.path, "layer", "layered.py"), "def answer(): return 42\n");

async function makeRunner(options: Partial<LocalMakerOptions>): Promise<ScriptRunner> {
  const maker = await openLocalMaker({ log: silentLogger, limits, path, packagesFolder: packages.path, ...options });
  return pooledRunner(maker, { floor: 0, ceiling: 4, idleMs: 60_000, keepBytes, log: silentLogger });
}

const traits = { keepBytes, limits, carriesFiles: true, lasts: true, packages: { key: "layer", pinned: [] } };
const noNamespaces = missingNamespaces();
const noBubblewrap =
  noNamespaces ?? ((await hasBubblewrap()) ? undefined : "bubblewrap is not installed, and cannot be");

testScriptRunner("local scripts by bubblewrap", () => makeRunner({ ways: [localWays.bubblewrap] }), {
  ...traits,
  skipped: noBubblewrap,
});
testScriptRunner("local scripts by unshare", () => makeRunner({ ways: [localWays.unshare] }), {
  ...traits,
  skipped: noNamespaces,
});
testScriptRunner("local scripts without a sandbox", () => makeRunner({ isUnsafe: true }), {
  ...traits,
  isIsolated: false,
});

/** Memory that no process has in its tables any more, or that nobody counts. */
const HOARDS = {
  "memory that is given back in name only": `kept = []
for _ in range(60):
    kept.append(mmap.mmap(-1, 10 << 20))
    kept[-1].write(b"x" * (10 << 20))
    kept[-1].madvise(mmap.MADV_DONTNEED)`,
  "memory of a child that has ended": `kept = []
for _ in range(60):
    kept.append(mmap.mmap(-1, 10 << 20))
    if os.fork() == 0:
        kept[-1].write(b"x" * (10 << 20))
        os._exit(0)
    os.wait()`,
  "a device as memory": `file = os.open("/dev/zero", os.O_RDWR)
kept = [mmap.mmap(file, 10 << 20) for _ in range(60)]
for one in kept:
    one.write(b"x" * (10 << 20))
    one.madvise(mmap.MADV_DONTNEED)`,
  "a supervisor that may open no file": `try: resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))
except OSError: pass
kept = [bytearray(b"x" * (10 << 20)) for _ in range(60)]`,
};

const ownCgroups = await findCgroups(limits);

describe.runIf(noNamespaces === undefined && ownCgroups.held.has("memory"))(
  "where cgroups can be made",
  { timeout: 60_000 },
  () => {
    test("a script whose memory the kernel takes is told that, though it looks like a crash", async () => {
      await using runner = await makeRunner({ ways: [localWays.unshare] });
      const script = `import mmap, os, resource\n${HOARDS["memory that is given back in name only"]}\nprint("held")`;
      const run = { signal: new AbortController().signal, deadline: performance.now() + 50_000 };

      expect(await runner.run({ id: "0".repeat(32), script, timeoutMs: 30_000 }, run)).toMatchObject({
        stdout: "",
        exitCode: null,
        signal: null,
        limit: "memory",
      });
    });

    test("those of a process that was killed are removed by the next, and no others", async () => {
      const own = await ownCgroups.make();
      const folders = memoryCgroups();
      const left = join(dirname(folders[0] as string), "rockbot-sandbox-1-1-1");
      mkdirSync(left);

      await findCgroups(limits);

      expect(existsSync(left)).toBe(false);
      expect(folders.every((folder) => existsSync(folder))).toBe(true);
      await own?.[Symbol.asyncDispose]();
    });
  },
);

/** Finds the memory cgroups of this process, in either hierarchy. */
function memoryCgroups(): readonly string[] {
  const found = execFileSync(
    "find",
    ["/sys/fs/cgroup", "-maxdepth", "6", "-type", "d", "-name", `rockbot-sandbox-${process.pid}-*`],
    { encoding: "utf8" },
  );
  return found.trim().split("\n");
}

describe.runIf(noNamespaces === undefined)("where no cgroups can be made", { timeout: 120_000 }, () => {
  const cgroups = { held: new Set<never>(), make: async () => undefined };

  for (const [name, way] of Object.entries({
    unshare: localWays.unshare,
    ...(noBubblewrap === undefined ? { bubblewrap: localWays.bubblewrap } : {}),
  })) {
    test(`a script by ${name} holds no more than it may by ${Object.keys(HOARDS).join(", ")}`, async () => {
      await using runner = await makeRunner({ ways: [way], cgroups });
      for (const [what, hoard] of Object.entries(HOARDS)) {
        const script = `import mmap, os, resource, time\n${hoard}\ntime.sleep(1)\nprint("held")`;
        const run = { signal: new AbortController().signal, deadline: performance.now() + 60_000 };
        const { stdout, exitCode } = await runner.run({ id: "0".repeat(32), script, timeoutMs: 30_000 }, run);

        expect([what, stdout, exitCode === 0]).toEqual([what, "", false]);
      }
    });
  }

  test("says so, where scripts are run and in its log, and nothing where they can", async () => {
    const said: unknown[] = [];
    const log: Logger = { ...silentLogger, warn: (fields) => void said.push(fields) };
    const open = (held: readonly ("memory" | "processors")[]) =>
      openLocalMaker({ log, limits, path, ways: [localWays.unshare], cgroups: { ...cgroups, held: new Set(held) } });
    await using none = await open([]);
    await using all = await open(["memory", "processors"]);

    expect(none.notHeld).toEqual([
      expect.stringMatching(/^memory is counted/),
      expect.stringMatching(/^processors are not held/),
    ]);
    expect(all.notHeld).toEqual([]);
    expect(said).toEqual(none.notHeld?.map((bound) => ({ bound })));
  });
});

/** The borders of what can be set, each together with what is usual else. */
const borders: readonly Partial<SandboxLimits>[] = [
  { processes: 1 },
  { processes: 4_096 },
  { processors: 0.05 },
  { processors: 64 },
  { memoryBytes: 32 * 1024 * 1024 },
  { memoryBytes: 64 * 1024 ** 3 },
  { storageBytes: 1024 * 1024, storageFiles: 150 },
  { storageBytes: 64 * 1024 ** 3, storageFiles: 65_536 * 150 },
];

test.runIf(noNamespaces === undefined)(
  "a script runs at each border of the settings, and one that fails there is told as itself",
  { timeout: 120_000 },
  async () => {
    for (const border of borders) {
      await using runner = await makeRunner({ ways: [localWays.unshare], limits: { ...limits, ...border } });
      const job = { id: "0".repeat(32), script: "import time; time.sleep(0.2); print(1); exit(3)", timeoutMs: 60_000 };
      const outcome = await runner.run(job, {
        signal: new AbortController().signal,
        deadline: performance.now() + 100_000,
      });

      expect([border, outcome]).toMatchObject([border, { stdout: "1\n", stderr: "", exitCode: 3, limit: null }]);
    }
  },
);

describe("openLocalMaker", () => {
  const nothing: Way = { name: "nothing", command: ({ command }) => [...command] };
  const open = (options: Partial<LocalMakerOptions>) => openLocalMaker({ log: silentLogger, limits, path, ...options });

  test("refuses a way whose sandboxes have gaps, and names them", async () => {
    await expect(open({ ways: [nothing] })).rejects.toMatchObject({
      code: "unavailable",
      isRetryable: false,
      message: expect.stringMatching(
        /gives no sandbox \(nothing: .*it sees the machine's processes.*Install bubblewrap.*--unsafe-local-scripts/,
      ),
    });
  });

  test("names the program that a way would need", async () => {
    const missing: Way = { name: "missing", command: () => ["no-such-program"] };

    await expect(open({ ways: [missing] })).rejects.toMatchObject({
      message: expect.stringContaining("missing: it is not installed"),
    });
  });

  test("says so when there is no Python", async () => {
    await expect(open({ python: "no-such-python" })).rejects.toMatchObject({
      message: expect.stringContaining("no Python 3.9 or newer called no-such-python"),
    });
  });

  test("runs nothing without a sandbox in a cluster", async () => {
    await expect(open({ isUnsafe: true, isInCluster: true })).rejects.toMatchObject({
      message: expect.stringContaining("never run in a cluster"),
    });
  });

  test("says loudly that scripts run without a sandbox", async () => {
    const said: string[] = [];
    const log: Logger = { ...silentLogger, warn: (...words: unknown[]) => void said.push(String(words[1])) };
    await using maker = await open({ isUnsafe: true, log });

    expect(maker.kind).toBe("unsafe");
    expect(said).toEqual([expect.stringContaining("WITHOUT a sandbox")]);
  });
});
