import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { afterAll, describe, expect, test } from "vitest";
import type { PackageLayer } from "../layer/package-layer.ts";
import type { SandboxLimits } from "../sandbox-limits.ts";
import type { ScriptJob, ScriptOutcome, ScriptRunner } from "../script-runner.ts";
import { testCells } from "./test-cells.ts";
import { testScriptCharts } from "./test-script-charts.ts";
import { testScriptFiles } from "./test-script-files.ts";
import { testScriptShown } from "./test-script-shown.ts";

/** The bounds that the runner under test was given. */
export interface ScriptRunnerTraits {
  /** The bound for each stream that the runner was made with. Between 8 KiB and 1 MiB. */
  readonly keepBytes: number;
  /** The limits that the runner was made with. Memory between 64 and 512 MiB. */
  readonly limits: SandboxLimits;
  /** Why there can be no such runner on this machine. */
  readonly skipped?: string | undefined;
  /** True if walls surround a script. @default true */
  readonly isIsolated?: boolean | undefined;
  /** True if a script sees an interface of a network that leads nowhere. @default false */
  readonly hasInterface?: boolean | undefined;
  /** True if the number of a script's files is bounded, and not only their bytes. @default true */
  readonly boundsFiles?: boolean | undefined;
  /**
   * A layer that is in the runner's packages folder, in which the module `layered` has a function `answer` that returns
   * 42.
   * @default not tested
   */
  readonly packages?: PackageLayer | undefined;
  /** True if it carries files of scripts. @default false */
  readonly carriesFiles?: boolean | undefined;
  /** True if its sandboxes last, and take cells. @default false */
  readonly lasts?: boolean | undefined;
  /** For starting sandboxes that take long, in milliseconds. @default 60_000 */
  readonly patienceMs?: number | undefined;
}

/** The promises of every runner of scripts, as tests. `makeRunner` makes one that can run 4 scripts at a time. */
export function testScriptRunner(
  name: string,
  makeRunner: () => Promise<ScriptRunner>,
  traits: ScriptRunnerTraits,
): void {
  const {
    keepBytes,
    limits,
    skipped,
    isIsolated = true,
    hasInterface = false,
    boundsFiles = true,
    packages,
    carriesFiles = false,
    lasts = false,
    patienceMs = 60_000,
  } = traits;
  const suite = describe.runIf(skipped === undefined);
  const label = skipped === undefined ? name : `${name} (skipped: ${skipped})`;

  const job = (script: string, changes: Partial<ScriptJob> = {}): ScriptJob => ({
    id: randomBytes(16).toString("hex"),
    script,
    timeoutMs: 20_000,
    ...changes,
  });

  function runIn(
    runner: ScriptRunner,
    script: string,
    changes: Partial<ScriptJob> = {},
    signal = new AbortController().signal,
  ): Promise<ScriptOutcome> {
    return runner.run(job(script, changes), { signal, deadline: performance.now() + patienceMs });
  }

  // Scripts share nothing but the runner, which is what the suite is about.
  let shared: Promise<ScriptRunner> | undefined;

  async function run(script: string, changes: Partial<ScriptJob> = {}): Promise<ScriptOutcome> {
    shared ??= makeRunner();
    return await runIn(await shared, script, changes);
  }

  /**
   * Runs out the time of a script that writes `BEGUN` to stderr, past its buffers, before its time is to be over: on a
   * crowded machine that takes more than a second.
   */
  async function runOut(script: string): Promise<ScriptOutcome> {
    for (let timeoutMs = 1_000; ; timeoutMs *= 2) {
      const outcome = await run(script, { timeoutMs });
      if (outcome.stderr.includes("BEGUN") || timeoutMs > patienceMs / 4) return outcome;
    }
  }

  /** What a script prints that looks at its surroundings, as JSON. */
  async function look(expression: string, changes: Partial<ScriptJob> = {}): Promise<unknown> {
    const { stdout, stderr } = await run(`import json, os, sys\nprint(json.dumps(${expression}))`, changes);
    expect(stderr).toBe("");
    return JSON.parse(stdout);
  }

  suite(label, { timeout: 2 * patienceMs }, () => {
    afterAll(async () => await (await shared)?.[Symbol.asyncDispose]());

    describe.runIf(carriesFiles)("files", () => testScriptFiles(run, { isIsolated }));

    describe.runIf(lasts)("cells", () =>
      testCells(
        async () => {
          shared ??= makeRunner();
          return await shared;
        },
        { keepBytes },
      ),
    );

    describe("a script that is looked at", () => testScriptShown(run));

    describe.runIf(carriesFiles)("charts", () => testScriptCharts(run));

    describe("the outcome", () => {
      test("keeps stdout and stderr apart, each in its order", async () => {
        const outcome = await run(
          "import sys\nfor n in range(3):\n  print('out', n)\n  print('err', n, file=sys.stderr)",
        );

        expect(outcome).toMatchObject({
          stdout: "out 0\nout 1\nout 2\n",
          stderr: "err 0\nerr 1\nerr 2\n",
          exitCode: 0,
          signal: null,
          limit: null,
        });
        expect(outcome.droppedBytes).toEqual({ stdout: 0, stderr: 0 });
        expect(outcome.durations.runMs).toBeGreaterThan(0);
      });

      test.each([
        ["the end of the script", "", 0],
        ["sys.exit()", "import sys; sys.exit()", 0],
        ["sys.exit with a number", "import sys; sys.exit(7)", 7],
        ["sys.exit with a number that is none of a process", "import sys; sys.exit(2**70)", 255],
        ["sys.exit with words", "import sys; sys.exit('in words')", 1],
        ["os._exit", "import os; os._exit(9)", 9],
        ["an exception", "raise ValueError('bad')", 1],
        ["a stdout that is closed", "import sys; print(1); sys.stdout.close()", 0],
        ["streams that are none", "import sys; sys.stdout = sys.stderr = None", 0],
        ["an exception where stderr is closed", "import sys; sys.stderr.close(); raise ValueError('bad')", 1],
        ["words where stderr is closed", "import sys; sys.stderr.close(); sys.exit('in words')", 1],
        [
          "an exception of the hook for exceptions",
          "import sys; sys.excepthook = lambda *_: 1 / 0; raise ValueError('bad')",
          1,
        ],
        ["a fault of syntax", "def", 1],
      ])("has the exit code of %s", async (_, script, exitCode) => {
        expect(await run(script)).toMatchObject({ exitCode, signal: null, limit: null });
      });

      test("is told while the script still runs, line by line", async () => {
        const stop = new AbortController();
        let heard = "";
        const onOutput = (bytes: Buffer): void => {
          heard += bytes.toString();
          if (heard.includes("first") && heard.includes("second")) stop.abort(new Error("heard enough"));
        };
        shared ??= makeRunner();
        const running = (await shared).run(
          job("import sys, time\nprint('first')\nprint('second', file=sys.stderr)\nwhile True: time.sleep(1)"),
          { signal: stop.signal, deadline: performance.now() + patienceMs, onOutput },
        );
        await expect(running).rejects.toThrow("heard enough");
      });

      test("names the signal that ended the script", async () => {
        const outcome = await run("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)");

        expect(outcome).toMatchObject({ exitCode: null, signal: "SIGSEGV", limit: null });
      });

      test("shows of an exception the script's own lines, and none of what runs it", async () => {
        const { stderr } = await run("def fails():\n  return 1 / 0\n\nfails()");

        expect(stderr).toMatch(
          /^Traceback \(most recent call last\):\n {2}File "[^"]*script\.py", line 4, in <module>\n/,
        );
        expect(stderr).toMatch(/ZeroDivisionError: division by zero\n$/);
        expect(stderr.match(/File "/g)).toHaveLength(2);
      });

      test("has what was printed at exit, by threads, and without a line's end", async () => {
        const script = `
import atexit, sys, threading, time
atexit.register(lambda: print("at exit"))
def later():
    time.sleep(0.2)
    print("thread")
threading.Thread(target=later).start()
sys.stdout.write("no line end ")
`;
        expect((await run(script)).stdout).toBe("no line end thread\nat exit\n");
      });

      test("has what it had left to its end: files that are open, and objects that are deleted", async () => {
        const script = `
import atexit
left_open = open("/dev/stdout", "w")
left_open.write("left open\\n")
class Last:
    def __del__(self):
        print("deleted")
last = Last()
last.itself = last
atexit.register(print, "at exit")
`;
        expect((await run(script)).stdout.trim().split("\n").sort()).toEqual(["at exit", "deleted", "left open"]);
      });

      test("keeps text of any script, controls included, and replaces bytes that are no text", async () => {
        const { stdout } = await run(
          String.raw`import sys; sys.stdout.buffer.write("é 漢 🦉 \x1b[31m\0|".encode() + b"\xff\xfe|")`,
        );

        expect(stdout).toBe("é 漢 🦉 \u001b[31m\0|\ufffd\ufffd|");
      });

      test("keeps the first bytes of much output, and counts the others", async () => {
        const script = `import sys\nfor _ in range(64): sys.stdout.write("é" * 65_536)\nsys.stderr.write("x" * ${keepBytes + 5})`;
        const { stdout, stderr, droppedBytes, exitCode } = await run(script);

        expect(exitCode).toBe(0);
        expect(stdout).toBe("é".repeat(Math.floor(keepBytes / 2)));
        expect(stderr).toBe("x".repeat(keepBytes));
        expect(droppedBytes).toEqual({ stdout: 64 * 2 * 65_536 - keepBytes, stderr: 5 });
      });
    });

    describe("a script", () => {
      test("is the main program, with a file of its own", async () => {
        expect(
          await look(`[__name__, os.path.basename(__file__), sys.argv == [__file__], "supervisor" in dir()]`),
        ).toEqual(["__main__", "script.py", true, false]);
      });

      test("has its input in a variable and on stdin", async () => {
        expect(await look(`[os.environ["ROCKBOT_INPUT"], sys.stdin.read()]`, { input: 'größer als "x"\n' })).toEqual([
          'größer als "x"\n',
          'größer als "x"\n',
        ]);
      });

      test("without input has an empty variable and an empty stdin", async () => {
        expect(await look(`[os.environ["ROCKBOT_INPUT"], sys.stdin.read()]`)).toEqual(["", ""]);
      });

      test("has input that no variable can hold on stdin, and programs still start", async () => {
        const script = `import os, subprocess, sys\nprint(len(sys.stdin.read()), "ROCKBOT_INPUT" in os.environ, subprocess.run(["true"]).returncode)`;

        expect((await run(script, { input: "x".repeat(1_000_000) })).stdout).toBe("1000000 False 0\n");
      });

      test("that does not read its input ends all the same", async () => {
        expect(await run("print('done')", { input: "x".repeat(1_000_000) })).toMatchObject({
          stdout: "done\n",
          exitCode: 0,
        });
      });

      test("can start programs and processes of its own", async () => {
        const script = `
import multiprocessing, subprocess, sys
def square(n): return n * n
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool: print(pool.map(square, [1, 2, 3]))
    print(subprocess.run([sys.executable, "-c", "print('inner')"], capture_output=True, text=True).stdout.strip())
`;
        expect(await run(script)).toMatchObject({ stdout: "[1, 4, 9]\ninner\n", exitCode: 0 });
      });

      test("can write files, which the next one does not see", async () => {
        await using runner = await makeRunner();
        const write = await runIn(
          runner,
          "import tempfile\nopen(tempfile.gettempdir() + '/note', 'w').write('mine')\nprint(open(tempfile.gettempdir() + '/note').read())",
        );
        const next = await runIn(runner, "import os, tempfile\nprint(os.listdir(tempfile.gettempdir()))");

        expect(write.stdout).toBe("mine\n");
        expect(next.stdout).toBe("['script.py']\n");
      });

      test("knows of no variables but a short list", async () => {
        const allowed = [
          "HOME",
          "LANG",
          "LC_CTYPE",
          "LOGNAME",
          "PATH",
          "PYTHONDONTWRITEBYTECODE",
          "ROCKBOT_INPUT",
          "TMPDIR",
          "USER",
        ];

        expect(await look(`[name for name in os.environ if name not in ${JSON.stringify(allowed)}]`)).toEqual([]);
      });

      test("has a name and a home for what asks who runs it", async () => {
        expect(await look("[__import__('getpass').getuser(), os.path.expanduser('~') == os.environ['HOME']]")).toEqual([
          "nobody",
          true,
        ]);
      });

      test.runIf(packages !== undefined)("can import what was installed for it, and only then", async () => {
        const script = "import layered\nprint(layered.answer())";

        expect(await run(script, { packages })).toMatchObject({ stdout: "42\n", exitCode: 0 });
        expect((await run(script)).stderr).toContain("ModuleNotFoundError");
      });
    });

    describe("a limit", () => {
      test("of time ends the script, with what it has printed so far", async () => {
        const outcome = await runOut(
          "import os, time\nprint('begun')\nos.write(2, b'BEGUN')\nwhile True: time.sleep(0.01)",
        );

        expect(outcome).toMatchObject({ stdout: "begun\n", exitCode: null, limit: "time" });
        expect(outcome.durations.runMs).toBeGreaterThanOrEqual(1_000);
      });

      test("of time loses nothing that the script has written, with or without a line's end", async () => {
        for (const wait of ["time.sleep(60)", "while True: pass"]) {
          const script = `import os, sys, time\nsys.stdout.write("half a line")\nsys.stderr.write("é")\nos.write(2, b"BEGUN ")\n${wait}`;

          expect(await runOut(script)).toMatchObject({ stdout: "half a line", stderr: "BEGUN é", limit: "time" });
        }
      });

      test("of time is what its call has left, where that is less", async () => {
        shared ??= makeRunner();
        const runner = await shared;
        await runIn(runner, "print('warm')");
        const callMs = patienceMs / 12;
        const script = job("import time\nprint('begun')\nwhile True: time.sleep(0.01)", { timeoutMs: 60_000.5 });

        const outcome = await runner.run(script, {
          signal: new AbortController().signal,
          deadline: performance.now() + callMs,
        });

        expect(outcome).toMatchObject({ stdout: "begun\n", exitCode: null, limit: "time" });
        expect(outcome.timeoutMs).toSatisfy((ms: number) => Number.isInteger(ms) && ms < callMs);
      });

      test("of time ends a script that ignores all signals", async () => {
        const script = `
import signal
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}: signal.signal(number, signal.SIG_IGN)
while True: pass
`;
        expect(await run(script, { timeoutMs: 1_000 })).toMatchObject({ exitCode: null, limit: "time" });
      });

      test("of memory ends the script, and says so", async () => {
        const script = `kept = []\nwhile True: kept.append(b"x" * ${1 << 20})`;

        expect(await run(script)).toMatchObject({ exitCode: null, limit: "memory" });
      });

      test("of memory is one for all processes of the script", async () => {
        const each = Math.floor(limits.memoryBytes / 4);
        const script = `import os, time\nfor _ in range(8):\n  if os.fork() == 0:\n    kept = b"x" * ${each}\n    time.sleep(20)\ntime.sleep(20)`;

        expect(await run(script)).toMatchObject({ exitCode: null, limit: "memory" });
      });

      test.runIf(isIsolated)("of processes ends the script, and says so", async () => {
        const outcome = await run("import os, time\nwhile True:\n  if os.fork() == 0: time.sleep(20)");

        expect(outcome).toMatchObject({ exitCode: null, limit: "processes" });
      });
    });

    describe("the end of a script", () => {
      test("is the end of all that it has started", async () => {
        const script = `
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(3600)
    os._exit(0)
print("started")
`;
        expect(await run(script)).toMatchObject({ stdout: "started\n", exitCode: 0, limit: null });
      });

      test("comes at once when its call is given up", async () => {
        await using runner = await makeRunner();
        await runIn(runner, "print('warm')");
        const giveUp = new AbortController();
        const reason = new Error("given up");
        const running = runIn(runner, "import time\ntime.sleep(3600)", {}, giveUp.signal);
        giveUp.abort(reason);

        await expect(running).rejects.toBe(reason);
      });

      test("comes for all of them when the runner is disposed of", async () => {
        const runner = await makeRunner();
        const running = [1, 2].map(() => runIn(runner, "import time\ntime.sleep(3600)"));
        const ended = Promise.allSettled(running);
        await runner[Symbol.asyncDispose]();

        expect((await ended).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
      });
    });

    test("many scripts at once have each its own outcome", async () => {
      await using runner = await makeRunner();
      const outcomes = await Promise.all(
        Array.from({ length: 12 }, (_, number) =>
          runIn(runner, `print(input(), ${number})`, { input: `input ${number}` }),
        ),
      );

      expect(outcomes.map(({ stdout }) => stdout)).toEqual(
        Array.from({ length: 12 }, (_, number) => `input ${number} ${number}\n`),
      );
    });

    describe.runIf(isIsolated)("the walls", () => {
      test("leave no network but the script's own", async () => {
        const script = `
import socket
print([name for _, name in socket.if_nameindex()${hasInterface ? ' if name == "lo"' : ""}])
for address in [("127.0.0.1", 9), ("192.0.2.1", 80), ("169.254.169.254", 80), ("1.1.1.1", 53)]:
    try:
        socket.create_connection(address, 2)
        print("connected to", address)
    except OSError:
        pass
try:
    socket.getaddrinfo("example.com", 80)
    print("resolved")
except OSError:
    pass
`;
        expect((await run(script)).stdout).toBe("['lo']\n");
      });

      test("let a script talk to itself", async () => {
        const script = `
import socket
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
client.send(b"hello")
print(server.accept()[0].recv(5).decode())
`;
        expect((await run(script)).stdout).toBe("hello\n");
      });

      test("leave no place to write but two that are bounded", async () => {
        const script = `
import os
def is_writable(folder):
    try:
        with open(os.path.join(folder, "probe"), "w"): pass
        os.remove(os.path.join(folder, "probe"))
        return True
    except OSError:
        return False
found = {folder for folder, names, _ in os.walk("/", topdown=True) if not (names[:] and folder == "/" and names.remove("proc")) and is_writable(folder)}
print(sorted(found - {"/dev/shm"}))
`;
        expect((await run(script, { timeoutMs: patienceMs / 2 })).stdout).toBe("['/tmp']\n");
      });

      test("bound what is written there, in bytes and in files", async () => {
        const script = `
def fill(folder):
    written = 0
    try:
        for number in range(1_000):
            with open(f"{folder}/{number}", "wb", buffering=0) as file:
                for _ in range(16): written += file.write(bytes(1 << 20))
    except OSError as error:
        return written, error.strerror
import os
def empty(folder):
    for name in os.listdir(folder): os.remove(f"{folder}/{name}")
print(fill("/tmp")[0] <= ${limits.storageBytes}, fill("/tmp")[1])
empty("/tmp")
made = 0
try:
    while ${boundsFiles ? "True" : `made < ${limits.storageFiles}`}:
        open(f"/tmp/{made}", "x").close()
        made += 1
except OSError:
    pass
print(made <= ${limits.storageFiles})
`;
        expect((await run(script)).stdout).toBe("True No space left on device\nTrue\n");
      });

      test("show the script its own processes only, and the supervisor closed", async () => {
        const script = `
import os
print(sorted(int(name) for name in os.listdir("/proc") if name.isdecimal() and int(name) not in (1, os.getpid())))
for name in ["mem", "environ", "fd", "maps"]:
    try:
        path = f"/proc/1/{name}"
        os.listdir(path) if name == "fd" else open(path, "rb").read(1)
        print("read", name)
    except OSError:
        pass
for number in [9, 15, 19, 2, 11]:
    os.kill(1, number)
print("alive")
`;
        expect(await run(script)).toMatchObject({ stdout: "[]\nalive\n", exitCode: 0 });
      });

      test("do not tell the script what its machine is called", async () => {
        const { stdout } = await run("import os, socket\nprint(socket.gethostname(), os.uname().nodename)");

        expect(stdout).not.toContain(hostname());
      });

      test("give the script no rights, and no way to any", async () => {
        const script = `
import os
status = {name: value.strip() for name, _, value in (line.partition(":") for line in open("/proc/self/status"))}
print(os.getuid() != 0, os.getgid() != 0, {status[name] for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")}, status["NoNewPrivs"], status["Seccomp"])
`;
        expect((await run(script)).stdout).toBe("True True {'0000000000000000'} 1 2\n");
      });

      test("let a script ask how processes are served, and change that of its own", async () => {
        const script = `
import os, resource
print(resource.prlimit(1, resource.RLIMIT_NOFILE)[0] > 0, os.sched_getscheduler(1), os.getpriority(os.PRIO_PROCESS, 1), len(os.sched_getaffinity(1)) > 0)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
os.sched_setaffinity(0, os.sched_getaffinity(0))
os.nice(1)
os.setpriority(os.PRIO_PROCESS, 0, 19)
print(resource.getrlimit(resource.RLIMIT_NOFILE), os.sched_getscheduler(0), os.nice(0))
`;
        expect(await run(script)).toMatchObject({
          stdout: expect.stringMatching(/^True 0 -?\d+ True\n\(64, 64\) 3 19\n$/),
          stderr: "",
        });
      });

      test("refuse what attacks on the kernel begin with", async () => {
        const script = `
import ctypes, os, platform, resource, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
numbers = {
    "x86_64": dict(mount=165, unshare=272, setns=308, ptrace=101, bpf=321, keyctl=250, userfaultfd=323, perf_event_open=298, io_uring_setup=425, open_by_handle_at=304, process_vm_readv=310, init_module=175, memfd_create=319),
    "aarch64": dict(mount=40, unshare=97, setns=268, ptrace=117, bpf=280, keyctl=219, userfaultfd=282, perf_event_open=241, io_uring_setup=425, open_by_handle_at=265, process_vm_readv=270, init_module=105, memfd_create=279),
}[platform.machine()]
for name, number in numbers.items():
    ctypes.set_errno(0)
    if libc.syscall(number, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() not in (1, 38): print("not refused:", name)
for other in [1, os.getppid()]:
    for what, call in {
        "prlimit": lambda: resource.prlimit(other, resource.RLIMIT_NOFILE, (0, 0)),
        "sched_setscheduler": lambda: os.sched_setscheduler(other, os.SCHED_BATCH, os.sched_param(0)),
        "sched_setparam": lambda: os.sched_setparam(other, os.sched_param(0)),
        "sched_setaffinity": lambda: os.sched_setaffinity(other, os.sched_getaffinity(0)),
        "setpriority": lambda: os.setpriority(os.PRIO_PROCESS, other, 19),
        "setpriority of all": lambda: os.setpriority(os.PRIO_USER, 0, 19),
        "SCHED_IDLE": lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)),
        "SCHED_IDLE for children": lambda: os.sched_setscheduler(0, os.SCHED_IDLE | os.SCHED_RESET_ON_FORK, os.sched_param(0)),
    }.items():
        try:
            call()
            print("not refused:", what)
        except PermissionError: pass
attribute = ctypes.create_string_buffer(struct.pack("IIQiIQQQ", 48, os.SCHED_IDLE, 0, 0, 0, 0, 0, 0))
for name, number in {"sched_setattr": {"x86_64": 314, "aarch64": 274}, "ioprio_set": {"x86_64": 251, "aarch64": 30}}.items():
    arguments = (0, attribute, 0) if name == "sched_setattr" else (1, 1, 3 << 13)
    if libc.syscall(number[platform.machine()], *arguments) != -1: print("not refused:", name)
clone = {"x86_64": 56, "aarch64": 220}[platform.machine()]
if libc.syscall(clone, 0x10000000 | 17, 0, 0, 0, 0) != -1: print("not refused: clone")
for family, kind in [(socket.AF_INET, socket.SOCK_RAW), (socket.AF_PACKET, socket.SOCK_DGRAM), (40, socket.SOCK_STREAM), (38, 5)]:
    try:
        socket.socket(family, kind)
        print("not refused: socket", family)
    except OSError:
        pass
print("done")
`;
        expect((await run(script)).stdout).toBe("done\n");
      });
    });
  });
}
