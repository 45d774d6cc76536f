import { randomBytes } from "node:crypto";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { type Cell, type CellOutcome, type Interpreter, openInterpreter } from "../interpreter.ts";
import type { ScriptJob, ScriptRunner } from "../script-runner.ts";
import { filesOf } from "./test-script-files.ts";

export interface TestCellsTraits {
  /** The bound for each stream that the runner was made with. */
  readonly keepBytes: number;
}

/** An interpreter whose cells are run by their sources. */
interface Session extends AsyncDisposable {
  readonly interpreter: Interpreter;
  run(source: string, changes?: Partial<Cell>, signal?: AbortSignal): Promise<CellOutcome>;
}

const never = (): AbortSignal => new AbortController().signal;

/** The promises of every runner whose sandboxes last, as tests of its suite. */
// Long because: it is a list of tests
export function testCells(runner: () => Promise<ScriptRunner>, { keepBytes }: TestCellsTraits): void {
  async function open(job: Partial<ScriptJob> = {}, stopMs = 2_000): Promise<Session> {
    const id = randomBytes(16).toString("hex");
    const interpreter = openInterpreter(await runner(), { id, ...job }, { signal: never(), lastsMs: 600_000, stopMs });
    await interpreter.started;
    return {
      interpreter,
      run: (source, changes = {}, signal = never()) =>
        interpreter.run({ source, timeoutMs: 20_000, ...changes }, { signal }),
      [Symbol.asyncDispose]: () => interpreter[Symbol.asyncDispose](),
    };
  }

  /** A cell that has begun, as its output shows, and then goes on. */
  function begin(session: Session, source: string, signal: AbortSignal = never(), before = "import time") {
    const begun = Promise.withResolvers<void>();
    const onOutput = (bytes: Buffer): void => void (bytes.includes("BEGUN") && begun.resolve());
    const cell = { source: `${before}\nprint("BEGUN")\n${source}`, timeoutMs: 20_000 };
    const outcome = session.interpreter.run(cell, { signal, onOutput });
    outcome.catch(() => {});
    return { outcome, begun: begun.promise };
  }

  test("find the variables, imports, files and threads of the cells before them", async () => {
    await using session = await open();
    const first = await session.run("import math, os\nx = 20\nopen('kept', 'w').write('k')");
    expect(first).toMatchObject({ cell: 1, stdout: "", stderr: "", exitCode: 0, limit: null, isLast: false });

    const later = await session.run("def f(): return x + 1\nprint(f(), math.pi > 3, open('kept').read(), __name__)\n7");
    expect(later).toMatchObject({ cell: 2, stdout: "21 True k __main__\n", stderr: "", exitCode: 0 });
    expect(
      await session.run("import pickle\nclass A: pass\nprint(_, type(pickle.loads(pickle.dumps(A()))).__name__)"),
    ).toMatchObject({ stdout: "7 A\n", stderr: "" });
  });

  test("tell of a failure with the lines of their own cell, and go on", async () => {
    await using session = await open();
    await session.run("kept = 1\ndef half(n):\n    return n / 0");
    const failed = await session.run("print('before')\nhalf(3)");
    expect(failed).toMatchObject({ stdout: "before\n", exitCode: 1, isLast: false });
    // Newer interpreters underline what failed.
    expect(failed.stderr.replace(/^ +[~^]+\n/gm, "")).toBe(
      'Traceback (most recent call last):\n  File "<cell 2>", line 2, in <module>\n    half(3)\n  File "<cell 1>", line 3, in half\n    return n / 0\nZeroDivisionError: division by zero\n',
    );
    const malformed = await session.run("x = (\n");
    expect(malformed).toMatchObject({ exitCode: 1, stdout: "", isLast: false });
    expect(malformed.stderr).toMatch(/^ {2}File "<cell 3>", line 1\n[\s\S]*SyntaxError: /);
    expect(await session.run("print(kept)")).toMatchObject({ stdout: "1\n", exitCode: 0 });
  });

  test("show each its own value, and the figures that it leaves open", async () => {
    await using session = await open();
    const { files, left } = filesOf({});
    const shownBy = async (source: string): Promise<unknown> => {
      const { shown, exitCode, stdout } = await session.run(source, { files, shownBytes: 64 * 1024 });
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" });
      return shown === undefined ? undefined : JSON.parse(shown.toString());
    };
    await session.run(`
import sys, types
class Figure:
  def __init__(self, name): self.name = name
  def __repr__(self): return print("drawn") or self.name
  def savefig(self, file, format, bbox_inches): file.write(self.name.encode())
plt = sys.modules["matplotlib.pyplot"] = types.ModuleType("matplotlib.pyplot")
plt.open = {}
plt.get_fignums, plt.figure, plt.close = lambda: list(plt.open), plt.open.get, plt.open.pop`);
    expect(await shownBy("plt.open[1] = Figure('one')\n6 * 7")).toEqual({
      value: { type: "int", text: "42" },
      charts: [{ file: "figure-1.png" }],
    });
    expect(await shownBy("x = 1")).toBeUndefined();
    expect(await shownBy("plt.open[2] = Figure('two')")).toEqual({ charts: [{ file: "figure-2.png" }] });
    expect(left).toEqual({ "figure-1.png": Buffer.from("one"), "figure-2.png": Buffer.from("two") });
    expect(await shownBy("Figure('three')")).toEqual({ value: { type: "__main__.Figure", text: "three" } });
    expect((await session.run("1")).shown).toBeUndefined();
    expect((await session.run("1\n1 / 0", { shownBytes: 1_000 })).shown).toBeUndefined();
    const slow = await session.run("class A:\n  def __repr__(self):\n    while True: pass\nA()", {
      shownBytes: 1_000,
      timeoutMs: 3_000,
    });
    expect(slow).toMatchObject({ exitCode: 0, limit: null, isLast: false });
    expect(await shownBy("2")).toEqual({ value: { type: "int", text: "2" } });
  });

  test("get their own input, and nothing of the one before", async () => {
    await using session = await open();
    const look = "import os, sys\nprint(sys.stdin.read(), os.environ.get('ROCKBOT_INPUT'))";
    expect((await session.run(look, { input: "größe" })).stdout).toBe("größe größe\n");
    expect((await session.run(look)).stdout).toBe(" None\n");
    const long = "x".repeat(300_000);
    const measured = await session.run("import sys\nprint(len(sys.stdin.read()))", { input: long });
    expect(measured.stdout).toBe("300000\n");
  });

  test("take long sources, and are printed apart from each other, each within its own bound", async () => {
    await using session = await open();
    const source = `text = "${"y".repeat(150_000)}"\nprint(len(text))`;
    expect((await session.run(source)).stdout).toBe("150000\n");
    const huge = await session.run(`import sys\nsys.stdout.write("z" * ${keepBytes + 5_000})`);
    expect([huge.stdout.length, huge.droppedBytes]).toEqual([keepBytes, { stdout: 5_000, stderr: 0 }]);
    for (let number = 0; number < 20; number++) {
      const outcome = await session.run(`import sys\nprint("o", ${number})\nsys.stderr.write("e ${number}")`);
      expect(outcome).toMatchObject({
        stdout: `o ${number}\n`,
        stderr: `e ${number}`,
        droppedBytes: { stdout: 0, stderr: 0 },
      });
    }
  });

  test("get what threads of earlier cells have printed meanwhile", async () => {
    await using session = await open();
    await session.run(
      "import os, threading\ngo = threading.Event()\nthread = threading.Thread(target=lambda: (go.wait(), os.write(1, b'late ')))\nthread.start()",
    );
    expect((await session.run("go.set()\nthread.join()\nprint('now')")).stdout).toBe("late now\n");
  });

  test("are cut by their time, and the interpreter goes on", async () => {
    await using session = await open();
    await session.run("n = 0");
    const cut = await session.run("import time\nwhile True:\n    n += 1\n    time.sleep(0.01)", { timeoutMs: 1_000 });
    expect(cut).toMatchObject({ limit: "time", exitCode: null, isLast: false });
    expect(cut.stderr).toMatch(/File "<cell 2>", line [\s\S]*KeyboardInterrupt/);
    expect(await session.run("print(n >= 0)")).toMatchObject({ stdout: "True\n", exitCode: 0 });
  });

  test("are cut with the interpreter, if they do not stop", async () => {
    const deaf = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)";
    await using late = await open({}, 200);
    const cut = await late.run(`${deaf}\nwhile True: time.sleep(1)`, { timeoutMs: 4_000 });
    expect(cut).toMatchObject({ limit: "time", isLast: true });
    await late.interpreter.over;
    await expect(late.run("print(1)")).rejects.toThrow(TypeError);

    await using cancelled = await open({}, 200);
    const cancel = new AbortController();
    const running = begin(cancelled, "while True: time.sleep(1)", cancel.signal, deaf);
    await running.begun;
    const reason = new ToolError(ToolErrorCode.Cancelled, "cancelled");
    cancel.abort(reason);
    await expect(running.outcome).rejects.toBe(reason);
    await cancelled.interpreter.over;
  });

  test("can be interrupted again after one that has changed what an interrupt does", async () => {
    await using session = await open();
    await session.run("import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)");
    const cut = await session.run("import time\nwhile True: time.sleep(0.01)", { timeoutMs: 500 });
    expect(cut).toMatchObject({ limit: "time", isLast: false });
  });

  test("stop when they are cancelled, and the interpreter goes on", async () => {
    await using session = await open();
    const cancel = new AbortController();
    const { outcome, begun } = begin(session, "while True: time.sleep(0.01)", cancel.signal);
    await begun;
    const reason = new ToolError(ToolErrorCode.Cancelled, "cancelled");
    cancel.abort(reason);
    await expect(outcome).rejects.toBe(reason);
    expect(session.interpreter.isOver).toBe(false);
    expect(await session.run("print(2)")).toMatchObject({ stdout: "2\n", exitCode: 0 });
  });

  test("end the interpreter by exit, by a crash and by using up its memory, and say how", async () => {
    await using left = await open();
    expect(await left.run("print('bye')\nexit(3)")).toMatchObject({ stdout: "bye\n", exitCode: 3, isLast: true });
    await left.interpreter.over;
    await using crashed = await open();
    expect(await crashed.run("print('b', flush=True)\nimport os\nos.kill(os.getpid(), 11)")).toMatchObject({
      stdout: "b\n",
      signal: "SIGSEGV",
      isLast: true,
    });
    await using grown = await open();
    const { outcome } = begin(grown, "held = []\nwhile True: held.append(b'x' * (1 << 22)); time.sleep(0.01)");
    expect(await outcome).toMatchObject({ limit: "memory", isLast: true });
  });

  test("have only the first process speak for them", async () => {
    await using session = await open();
    const forging = `
import os, socket, stat
def forge():
    for number in map(int, os.listdir("/proc/self/fd")):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode): os.write(number, b"x1 done 0"); os.write(number, b"e1 0")
        except OSError: pass
child = os.fork()
if child == 0:
    forge()
    os._exit(0)
os.waitpid(child, 0)
print("after")`;
    expect(await session.run(forging)).toMatchObject({ cell: 1, stdout: "after\n", exitCode: 0 });
    // A fork that runs to the end of the cell neither ends it twice nor takes the next one.
    await session.run("import os\nchild = os.fork()\nif child: os.waitpid(child, 0)\nprint('one')");
    expect(await session.run("print('next', child > 0)")).toMatchObject({ cell: 3, stdout: "next True\n" });
  });

  test("have their streams again after one that has closed them", async () => {
    await using session = await open();
    expect(
      await session.run("import sys, os\nprint('x', flush=True)\nsys.stdout.close()\nos.close(1)\nos.close(2)"),
    ).toMatchObject({
      stdout: "x\n",
      exitCode: 0,
    });
    expect(await session.run("import sys\nprint('there')\nprint('too', file=sys.stderr)")).toMatchObject({
      stdout: "there\n",
      stderr: "too\n",
    });
  });

  test("end the interpreter in words, if they close its connection", async () => {
    await using session = await open();
    const outcome = await session.run("import os\nos.closerange(3, 256)");
    expect(outcome).toMatchObject({ exitCode: 1, isLast: true });
    expect(outcome.stderr).toContain("a cell has closed the connection of its interpreter");
  });

  test("get files, and leave those of the folder out that are new or have changed", async () => {
    await using session = await open();
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 7919) % 256));
    const first = filesOf({ "data.bin": bytes, empty: Buffer.alloc(0) });
    const copy =
      "import shutil\nshutil.copy('data.bin', 'out/größe.bin')\nopen('out/b', 'w').write('1')\nprint(open('empty').read() == '')";
    expect(await session.run(copy, { files: first.files })).toMatchObject({
      stdout: "True\n",
      passedFiles: 0,
      stderr: "",
    });
    expect(first.left["größe.bin"]?.equals(bytes)).toBe(true);
    expect(Object.keys(first.left).sort()).toEqual(["b", "größe.bin"]);

    const second = filesOf({});
    const change =
      "import os\nopen('out/b', 'w').write('22')\nos.symlink('/etc/passwd', 'out/link')\nos.mkdir('out/folder')";
    expect(await session.run(change, { files: second.files })).toMatchObject({ passedFiles: 2, stderr: "" });
    expect(second.left).toEqual({ b: Buffer.from("22") });
  });

  test("are ended with their interpreter, and nothing of it is left", async () => {
    const session = await open();
    const { outcome, begun } = begin(session, "while True: time.sleep(1)");
    await begun;
    await session.interpreter[Symbol.asyncDispose]();
    await expect(outcome).rejects.toMatchObject({ code: "cancelled" });
    expect(session.interpreter.isOver).toBe(true);
  });
}
