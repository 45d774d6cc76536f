import { randomUUID } from "node:crypto";
import { chmodSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { canRunContainers, docker, startNodeProgram, temporaryFolder } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { runJob } from "../job/run-job.ts";
import type { SandboxMaker } from "../sandbox.ts";
import { supervisorCommand } from "../supervisor/supervisor-command.ts";
import { type ContainerMakerOptions, containerMaker } from "./container-maker.ts";
import { engineSocket } from "./engine-socket.ts";
import { label, ROLE } from "./reap-containers.ts";
import { IMAGE, LIMITS, runIn, TEST_COMMAND } from "./test-program.ts";

const hasEngine = await canRunContainers(IMAGE);
const signal = AbortSignal.timeout(300_000);

function makerOf(options: Partial<ContainerMakerOptions> = {}): SandboxMaker {
  const socketPath = engineSocket(process.env["DOCKER_HOST"]);
  return containerMaker({
    socketPath,
    image: IMAGE,
    command: TEST_COMMAND,
    limits: LIMITS,
    owner: `test-${randomUUID()}`,
    timeoutMs: 60_000,
    ...options,
  });
}

/** The names of an owner's containers, in any state. */
async function containersOf(owner: string): Promise<readonly string[]> {
  const names = await docker(["ps", "--all", "--filter", `label=${label.Owner}=${owner}`, "--format", "{{.Names}}"]);
  return names.split("\n").filter((name) => name !== "");
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 60_000; !(await isSo()); await setTimeout(100))
    expect(performance.now()).toBeLessThan(end);
}

// Without an engine there are no containers. The requests to it are tested below, as far as they need none.
describe.runIf(hasEngine)("with an engine", { timeout: 120_000 }, () => {
  test("a sandbox has no network, no rights, and nothing to write but a bounded /tmp", async () => {
    await using maker = makerOf();
    await using sandbox = await maker.make({ signal });
    const report = JSON.parse(
      await runIn(
        sandbox,
        `
import json, os, socket
def tried(what):
    try: return repr(what())
    except OSError as error: return os.strerror(error.errno)
status = dict(line.rstrip().split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line)
def fill(path, block=1 << 20):
    with open(path, "wb", buffering=0) as file:
        for _ in range(64): file.write(bytes(block))
def inodes():
    for number in range(100_000): open(f"/tmp/{number}", "w").close()
print(json.dumps({
    "ids": [os.getuid(), os.getgid(), os.getgroups()],
    "interfaces": [name for _, name in socket.if_nameindex()],
    "connect": tried(lambda: socket.create_connection(("192.0.2.1", 80), 2)),
    "raw": tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)),
    "root": tried(lambda: open("/x", "w")), "home": tried(lambda: open("/var/tmp/x", "w")),
    "tmp": tried(lambda: fill("/tmp/x")), "shm": tried(lambda: fill("/dev/shm/x")),
    "files": (os.remove("/tmp/x"), tried(inodes))[1],
    "capabilities": [status[name] for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")],
    "privileges": status["NoNewPrivs"], "seccomp": status["Seccomp"],
    "host": socket.gethostname(), "socket": os.path.exists("/var/run/docker.sock"),
}))
`,
      ),
    ) as object;

    const none = "0000000000000000";
    expect(report).toEqual({
      ids: [65534, 65534, [65534]],
      interfaces: ["lo"],
      connect: "Network is unreachable",
      raw: "Operation not permitted",
      root: "Read-only file system",
      home: "Read-only file system",
      tmp: "No space left on device",
      shm: "No space left on device",
      files: "No space left on device",
      capabilities: [none, none, none, none],
      privileges: "1",
      seccomp: "2",
      host: "sandbox",
      socket: false,
    });
  });

  test("a sandbox runs at each border of what can be set, whatever the machine has", async () => {
    const gib = 1024 ** 3;
    const all = [
      { processes: 1, processors: 0.05, memoryBytes: 32 * 1024 * 1024, storageBytes: 1024 * 1024, storageFiles: 150 },
      { processes: 4_096, processors: 64, memoryBytes: 64 * gib, storageBytes: 64 * gib, storageFiles: 65_536 * 150 },
    ];
    for (const limits of all) {
      await using maker = makerOf({ limits, command: supervisorCommand("python3", limits) });
      await using sandbox = await maker.make({ signal });
      const job = { id: "0".repeat(32), script: "import time; time.sleep(0.2); print(1); exit(3)", timeoutMs: 60_000 };

      expect(await runJob(sandbox, job, { signal, keepBytes: 100 })).toMatchObject({
        stdout: "1\n",
        stderr: "",
        exitCode: 3,
        limit: null,
      });
    }
  });

  test("a script whose memory the engine takes is told that, though it looks like a crash", async () => {
    await using maker = makerOf({ command: supervisorCommand("python3", LIMITS) });
    await using sandbox = await maker.make({ signal });
    const script = `import mmap
kept = []
for _ in range(20):
    kept.append(mmap.mmap(-1, 10 << 20))
    kept[-1].write(b"x" * (10 << 20))
    kept[-1].madvise(mmap.MADV_DONTNEED)`;

    expect(
      await runJob(sandbox, { id: "0".repeat(32), script, timeoutMs: 30_000 }, { signal, keepBytes: 100 }),
    ).toMatchObject({
      exitCode: null,
      limit: "memory",
    });
  });

  test("a sandbox makes no more processes than it may", async () => {
    await using maker = makerOf();
    await using sandbox = await maker.make({ signal });
    const made = await runIn(
      sandbox,
      `
import os, time
count = 0
try:
    while True:
        if os.fork() == 0: time.sleep(60); os._exit(0)
        count += 1
except BlockingIOError: print(count)
`,
    );
    expect(Number(made)).toBeGreaterThan(0);
    expect(Number(made)).toBeLessThanOrEqual(LIMITS.processes + 1);
  });

  test("a sandbox whose memory is used up is gone, and says why", async () => {
    await using maker = makerOf();
    await using sandbox = await maker.make({ signal });
    void runIn(sandbox, "kept = []\nwhile True: kept.append(bytearray(1 << 20))");

    const { isOutOfMemory, error } = await sandbox.gone;
    expect(isOutOfMemory).toBe(true);
    expect(error).toMatchObject({ code: "execution_failed", details: { reason: "out_of_memory" } });
  });

  test("a sandbox that ends by itself is gone, and removed", async () => {
    const owner = `test-${randomUUID()}`;
    await using maker = makerOf({ owner });
    await using sandbox = await maker.make({ signal });
    sandbox.input.write('"import os; os._exit(3)"\n');

    expect(await sandbox.gone).toMatchObject({
      isOutOfMemory: false,
      error: { code: "execution_failed", details: { reason: "sandbox_lost" } },
    });
    await until(async () => (await containersOf(owner)).length === 0);
  });

  test("disposal ends all processes of a sandbox, whatever they ignore, and can be asked for twice", async () => {
    const owner = `test-${randomUUID()}`;
    await using maker = makerOf({ owner });
    const sandbox = await maker.make({ signal });
    sandbox.input.write(
      `${JSON.stringify("import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nif os.fork() == 0: os.setsid()\nprint('runs', flush=True)\ntime.sleep(600)")}\n`,
    );
    await until(async () => (sandbox.output.read() as Buffer | null)?.includes("runs") ?? false);
    const [name = ""] = await containersOf(owner);
    const pid = (await docker(["inspect", "--format", "{{.State.Pid}}", name])).trim();
    expect(isAlive(Number(pid))).toBe(true);

    await Promise.all([sandbox[Symbol.asyncDispose](), sandbox[Symbol.asyncDispose]()]);
    await until(async () => !isAlive(Number(pid)) && (await containersOf(owner)).length === 0);
  });

  test("disposal of the maker removes what it has made, and it makes no more", async () => {
    const owner = `test-${randomUUID()}`;
    const maker = makerOf({ owner });
    await Promise.all([maker.make({ signal }), maker.make({ signal })]);
    expect(await containersOf(owner)).toHaveLength(2);

    await maker[Symbol.asyncDispose]();
    expect(await containersOf(owner)).toEqual([]);
    await expect(maker.make({ signal })).rejects.toMatchObject({ code: "unavailable" });
  });

  test("making that is given up leaves nothing behind", async () => {
    const owner = `test-${randomUUID()}`;
    await using maker = makerOf({ owner });
    const controller = new AbortController();
    const making = maker.make({ signal: controller.signal });
    await until(async () => (await containersOf(owner)).length > 0);
    controller.abort(new Error("given up"));

    await expect(making).rejects.toThrow("given up");
    await until(async () => (await containersOf(owner)).length === 0);
  });

  test("packages that come later are seen in a sandbox that is there, and cannot be changed", async () => {
    using folder = temporaryFolder();
    await using maker = makerOf({ packagesSource: folder.path });
    await using sandbox = await maker.make({ signal });
    folder.write("greeting.py", "words = 'from a layer'");
    chmodSync(folder.path, 0o755);

    const script = `
import sys
sys.path.insert(0, "/packages")
import greeting
print(greeting.words)
try: open("/packages/x", "w")
except OSError as error: print(error.strerror)
`;
    expect(await runIn(sandbox, script)).toBe("from a layer\nRead-only file system\n");
  });

  test("a container ends by itself when its manager is killed", async () => {
    const owner = `test-${randomUUID()}`;
    const { DOCKER_HOST = "" } = process.env;
    await using manager = startNodeProgram(join(import.meta.dirname, "test-container-manager.ts"), {
      args: [owner],
      env: { DOCKER_HOST },
    });
    await until(async () => manager.stdout().includes("made"));
    expect(await containersOf(owner)).toHaveLength(1);

    manager.kill("SIGKILL");
    await until(async () => (await containersOf(owner)).length === 0);
  });

  test("a manager removes what an earlier one of its name has left, and what is past its deadline, and nobody else's", async () => {
    const owner = `test-${randomUUID()}`;
    const stranger = `test-${randomUUID()}`;
    const inAnHour = Math.round(Date.now() / 1000) + 3_600;
    const leave = (of: string, deadline: number) => {
      const labels = { [label.Role]: ROLE, [label.Owner]: of, [label.Process]: "earlier", [label.Deadline]: deadline };
      const args = Object.entries(labels).flatMap(([name, value]) => ["--label", `${name}=${value}`]);
      return docker(["run", "--detach", "--network", "none", ...args, "--entrypoint", "sleep", IMAGE, "600"]);
    };
    const ids = [await leave(owner, inAnHour), await leave(stranger, 1), await leave(stranger, inAnHour)];
    try {
      await using _maker = makerOf({ owner });
      await until(async () => (await containersOf(owner)).length === 0 && (await containersOf(stranger)).length === 1);
    } finally {
      await docker(["rm", "--force", ...ids.map((id) => id.trim())]);
    }
  });

  test("an image that the engine does not have is named, and so is one without Python", async () => {
    await using without = makerOf({ image: "rockbot.invalid/none:1" });
    await expect(without.make({ signal })).rejects.toMatchObject({
      code: "unavailable",
      isRetryable: false,
      message: expect.stringContaining('does not have the image "rockbot.invalid/none:1"') as string,
      details: { reason: "image_missing" },
    });
    await using silent = makerOf({ command: ["python3", "-c", "print('hello')"] });
    await expect(silent.make({ signal })).rejects.toMatchObject({
      code: "unavailable",
      details: { reason: "engine_failed" },
    });
  });
});

test("an engine that is away, or does not answer, is said to be so in time", async () => {
  using folder = temporaryFolder();
  await using away = makerOf({ socketPath: join(folder.path, "none.sock") });
  await expect(away.make({ signal })).rejects.toMatchObject({
    code: "unavailable",
    details: { reason: "engine_away" },
  });

  const socketPath = join(folder.path, "silent.sock");
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(socketPath, resolve));
  await using slow = makerOf({ socketPath, timeoutMs: 200 });
  await expect(slow.make({ signal })).rejects.toMatchObject({
    code: "unavailable",
    isRetryable: true,
    details: { reason: "engine_slow" },
  });
  silent.close();
});

test("the engine's socket is where DOCKER_HOST says, and only on this machine", () => {
  expect(engineSocket(undefined)).toBe("/var/run/docker.sock");
  expect(engineSocket("unix:///run/user/1000/docker.sock")).toBe("/run/user/1000/docker.sock");
  expect(() => engineSocket("tcp://192.0.2.1:2375")).toThrow("expected unix://");
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
