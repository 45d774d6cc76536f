import { expect, test } from "vitest";
import type { ScriptJob, ScriptOutcome } from "../script-runner.ts";

const SHOWN_BYTES = 64 * 1024;

/** What every runner promises of a script that is looked at, as tests of its suite. */
// Long because: it is a list of tests
export function testScriptShown(run: (script: string, changes?: Partial<ScriptJob>) => Promise<ScriptOutcome>): void {
  const look = (script: string, changes: Partial<ScriptJob> = {}) =>
    run(script, { shownBytes: SHOWN_BYTES, ...changes });
  const saidBy = ({ shown }: ScriptOutcome): unknown =>
    shown === undefined ? undefined : JSON.parse(shown.toString());
  const shownBy = async (script: string): Promise<unknown> => saidBy(await look(script));

  test.each([
    ["a number", "6 * 7", { type: "int", text: "42" }],
    ["a text", "'a \\\\ \"é\" 😀\\n'", { type: "str", text: String.raw`'a \\ "é" 😀\n'` }],
    ["what stands in several lines", "x = 1\n(\n  x +\n  1\n)", { type: "int", text: "2" }],
    ["nested containers", "[(1,), {'a': {2}}, set(), b'x']", { type: "list", text: "[(1,), {'a': {2}}, set(), b'x']" }],
    ["an object", "class A:\n  def __repr__(self): return 'mine'\nA()", { type: "__main__.A", text: "mine" }],
  ])("shows the value of its last expression: %s", async (_, script, value) => {
    expect(await shownBy(script)).toEqual({ value });
  });

  test.each([
    ["a statement", "x = 1"],
    ["None", "print(1)"],
    ["nothing", ""],
    ["a fault", "1\n1 / 0"],
    ["an exit", "import sys\n1\nsys.exit(0)"],
    ["an expression within a statement", "if True:\n  42"],
  ])("shows nothing if it ends with %s", async (_, script) => {
    expect(await shownBy(script)).toBeUndefined();
  });

  test.each([
    ["prints", "import sys\nprint('a'); print('b', file=sys.stderr); sys.stdout.write('c')\n[print('d')]"],
    ["has a docstring", "'doc'\nprint(__doc__, __name__)\n__doc__"],
    ["is a docstring", "import atexit\natexit.register(lambda: print(__doc__))\n'no doc'"],
    ["raises in its last expression", "def f():\n  raise ValueError('bad')\n\n(\n  f()\n)"],
    ["has a fault of syntax behind good lines", "print(1)\nx = 2\nreturn x\n3"],
    ["has a fault of syntax in its last expression", "print(1)\n(yield 3)"],
    ["is warned", "x = 1\nprint(x is 1)\nx is 1"],
    ["has an encoding", "# -*- coding: latin-1 -*-\nprint('\u00e9')\n1"],
    ["names what is to come", "from __future__ import annotations\ndef f(a: B): pass\nprint(f.__annotations__)\nf"],
    ["is nested deeply", `print(1)\n${"(".repeat(150)}1${")".repeat(150)}`],
    [
      "looks at its frames",
      "import sys\nprint(sys._getframe().f_code.co_name, sys._getframe().f_lineno)\n[sys._getframe().f_lineno]",
    ],
    ["exits", "import sys\nprint('x')\nsys.exit(7)"],
    [
      "leaves a thread behind",
      "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.2), print('late'))).start()\n1",
    ],
  ])("does the same as one that is not looked at if it %s", async (_, script) => {
    const [plain, looked] = [await run(script), await look(script)].map(({ stdout, stderr, exitCode, limit }) => ({
      ...{ stdout, exitCode, limit },
      stderr: stderr.replaceAll(/rockbot-script-\w+/g, ""), // without a sandbox each has a folder of its own
    }));
    expect(looked).toEqual(plain);
  });

  test.each([
    ["raises", "raise KeyError('mine')", "KeyError: 'mine'"],
    ["exits", "raise SystemExit(3)", "SystemExit: 3"],
    [
      "raises what cannot be told",
      "\n    class E(Exception):\n      def __str__(self): 1 / 0\n    raise E()",
      "__main__.A.__repr__.<locals>.E",
    ],
    ["is no text", "return 3", "TypeError: __repr__ returned non-string (type int)"],
    ["recurs", "return repr(self)", "RecursionError"],
    ["takes all memory that it gets", "return 'x' * (1 << 62)", "MemoryError"],
    ["never ends", "\n    while True: pass", "TimeoutError: it takes longer than"],
  ])("never fails as the repr of its value %s", async (_, body, fault) => {
    const outcome = await look(`print(1)\nclass A:\n  def __repr__(self): ${body}\nA()`);
    expect(outcome).toMatchObject({ stdout: "1\n", stderr: "", exitCode: 0, limit: null });
    expect(saidBy(outcome)).toEqual({
      value: { type: "__main__.A", text: "" },
      notes: [expect.stringContaining(`is not shown: ${fault}`)],
    });
  });

  test("prints nothing by what it shows", async () => {
    const script = `
import os, sys
class Loud:
  def __repr__(self):
    print("loud"); sys.stderr.write("loud"); os.write(1, b"loud"); os.system("echo loud")
    sys.stdout.write("half a line")
    return "shown"
sys.stdout.write("quiet")
Loud()`;
    const outcome = await look(script);
    expect(outcome).toMatchObject({ stdout: "quiet", stderr: "" });
    expect(saidBy(outcome)).toEqual({ value: { type: "__main__.Loud", text: "shown" } });
  });

  test("shows the begin of what is long or deep, and has no room for all of it", async () => {
    const long = { type: "list", text: expect.stringMatching(/^\['x{8000,}$/), isCut: 1 };
    expect(await shownBy("['x' * 1_000_000] * 1_000")).toEqual({ value: long });
    const many = { type: "list", text: expect.stringMatching(/^\[0, 1, 2, .{8000,}/), isCut: 1 };
    expect(await shownBy("list(range(200_000))")).toEqual({ value: many });
    expect(await shownBy("a = [1]\na.append(a)\na")).toEqual({
      value: { type: "list", text: expect.stringMatching(/^(\[1, ){20}\.\.\.\]{20}$/) },
    });
    const text = "class A:\n  def __repr__(self): return 'x' * 3_000_000\nA()";
    expect(await shownBy(text)).toEqual({ value: { type: "__main__.A", text: "x".repeat(8_192), isCut: 1 } });
    expect(await shownBy("'y' * 3_000_000")).toMatchObject({ value: { text: `'${"y".repeat(8_191)}`, isCut: 1 } });
  });

  test("has what pandas would show as a table, for all that a module in its place does", async () => {
    const frame = `
import sys, types
pandas = sys.modules["pandas"] = types.ModuleType("pandas")
class Row(list):
  def __getitem__(self, at): return Frame(self[:][at[0]]) if isinstance(at, tuple) else list.__getitem__(self, at)
class DataFrame:
  shape, columns, index = (1000, 2), ["a", "b" * 500], range(20)
  iloc = property(lambda self: self)
  def __getitem__(self, at): return Begin()
  def __repr__(self): return "a frame"
class Begin:
  shape, columns, index = (20, 2), ["a", "b" * 500], range(20)
  iat = type("At", (), {"__getitem__": lambda self, at: at[0] * 10 + at[1]})()
pandas.DataFrame = DataFrame
`;
    expect(await shownBy(`${frame}DataFrame()`)).toEqual({
      value: {
        type: "__main__.DataFrame",
        text: "a frame",
        table: {
          columns: ["a", "b".repeat(200)],
          index: Array.from({ length: 20 }, (_, row) => String(row)),
          rows: Array.from({ length: 20 }, (_, row) => [String(row * 10), String(row * 10 + 1)]),
          rowCount: 1000,
          columnCount: 2,
        },
      },
    });
    const liar = "class Liar:\n  __class__ = DataFrame\n  def __repr__(self): return 'liar'\nLiar()";
    expect(await shownBy(frame + liar)).toEqual({ value: { type: "__main__.Liar", text: "liar" } });
    const poisoned = "class Any:\n  def __getattr__(self, name): 1 / 0\nsys.modules['pandas'] = Any()\n1";
    expect(await shownBy(frame + poisoned)).toMatchObject({ notes: [expect.stringContaining("ZeroDivisionError")] });
  });

  test.each([
    ["memory", "'x' * (1 << 40) if len('y' * (600 << 20)) else ''", "memory"],
    ["time, within native code", "str(sum(range(10**14)))", "time"],
  ])(
    "ends as any script does whose limit is over if the repr of its value takes more %s than it may",
    async (_, body, limit) => {
      const outcome = await look(`print(1)\nclass A:\n  def __repr__(self): return ${body}\nA()`, { timeoutMs: 4_000 });
      expect(outcome).toMatchObject({ stdout: "1\n", stderr: "", exitCode: null, limit });
      expect(saidBy(outcome)).toBeUndefined();
    },
  );

  test("shows nothing by a process that it has forked", async () => {
    const script = "import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\n'parent' if pid else 'child'";
    expect(await shownBy(script)).toEqual({ value: { type: "str", text: "'parent'" } });
    const child = "import os\npid = os.fork()\nif pid: os.waitpid(pid, 0); os._exit(0)\n'child'";
    expect(await shownBy(child)).toBeUndefined();
  });

  test("shows no more than it was asked for, and nothing where it was not", async () => {
    expect(saidBy(await look("list(range(9_999))", { shownBytes: 200 }))).toEqual({
      notes: ["Nothing is shown: it is too much."],
    });
    expect((await run("42")).shown).toBeUndefined();
  });
}
