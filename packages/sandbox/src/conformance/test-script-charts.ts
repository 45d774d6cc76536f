import { expect, test } from "vitest";
import type { ScriptJob, ScriptOutcome } from "../script-runner.ts";

/** Modules in the place of libraries that a machine may not have, by the names that a script uses of them. */
const STAND_INS = `
import os, sys
def module(path, source):
  os.makedirs(os.path.dirname(path), exist_ok=True)
  with open(path, "w") as file: file.write(source)
module("matplotlib/__init__.py", "")
module("matplotlib/figure.py", """
class Figure:
  name = "drawn"
  def savefig(self, place, format=None, bbox_inches=None):
    print("saving")
    if self.name == "broken": raise ValueError("cannot draw")
    if isinstance(place, str): place = open(place, "wb")
    place.write(f"png of {self.name}".encode())
    if self.name == "half": raise ValueError("cannot draw all")
    place.flush()
""")
module("matplotlib/pyplot.py", """
from .figure import Figure
figures = {}
def figure(key=None):
  if key not in figures:
    number = max(figures, default=0) + 1
    figures[number] = Figure()
    figures[number].name = str(key)
    return figures[number]
  return figures[key]
def get_fignums(): return sorted(figures)
def close(number): del figures[number]
def show(): raise RuntimeError("no screen")
""")
module("PIL/__init__.py", "")
module("PIL/Image.py", """
class Image:
  def __init__(self, mode): self.mode = mode
  def save(self, file, format):
    if self.mode == "CMYK": file.write(b"half"); raise OSError("cannot write mode CMYK as PNG")
    file.write(f"{format} of {self.mode}".encode())
  def convert(self, mode): return Image(mode)
  def show(self): raise RuntimeError("no screen")
  def __repr__(self): return "<image>"
""")
module("plotly/__init__.py", "")
module("plotly/basedatatypes.py", """
class BaseFigure:
  size = 1
  def to_json(self): return '{"data":[' + ' ' * self.size + '],"layout":{"title":"\\\\u00e9"}}'
  def show(self): raise RuntimeError("no browser")
""")
module("altair/__init__.py", "from .api import Chart")
module("altair/api.py", """
class Chart:
  def to_json(self, indent=2): return '{"$schema":"https://vega.github.io/schema/vega-lite/v5.json","mark":"bar"}'
""")
`;

/** What runners that carry files promise of a script's charts, as tests of their suite. */
// Long because: it is a list of tests
export function testScriptCharts(run: (script: string, changes?: Partial<ScriptJob>) => Promise<ScriptOutcome>): void {
  /** What a script shows, which files it leaves, and what it prints. */
  async function chartsOf(script: string, { hasFiles = true } = {}) {
    const left: Record<string, string> = {};
    const files: ScriptJob["files"] = {
      given: [],
      mostFiles: 32,
      mostBytes: 1024 ** 2,
      async onFile(name, parts) {
        left[name] = "";
        for await (const part of parts) left[name] += part.toString();
      },
    };
    const outcome = await run(STAND_INS + script, { shownBytes: 400_000, ...(hasFiles ? { files } : {}) });
    const { shown, stdout, stderr, exitCode } = outcome;
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    return { left, stdout, shown: shown === undefined ? undefined : JSON.parse(shown.toString()) };
  }

  test("are kept as pictures where a script leaves figures open, in silence", async () => {
    const script = "import matplotlib.pyplot as plt\nplt.figure('a'); plt.figure('b')\nprint('done')";
    expect(await chartsOf(script)).toEqual({
      stdout: "done\n",
      left: { "figure-1.png": "png of a", "figure-2.png": "png of b" },
      shown: { charts: [{ file: "figure-1.png" }, { file: "figure-2.png" }] },
    });
  });

  test("are kept when a script shows them, and not again at its end", async () => {
    const script =
      "import matplotlib.pyplot as plt\nplt.figure('a')\nplt.show()\nplt.figure('b')\nplt.show()\nplt.show()";
    const { left, shown } = await chartsOf(script);
    expect(left).toEqual({ "figure-1.png": "png of a", "figure-2.png": "png of b" });
    expect(shown.charts).toHaveLength(2);
  });

  test("are kept once where a script saves them itself in its folder out, and its own files stay", async () => {
    const own = `
import matplotlib.pyplot as plt
open("out/figure-1.png", "w").write("mine")
plt.figure("a").savefig("out/own.png")
plt.figure("b").savefig("elsewhere.png")
plt.figure("c")`;
    expect(await chartsOf(own)).toMatchObject({
      left: { "figure-1.png": "mine", "own.png": "png of a", "figure-2.png": "png of b", "figure-3.png": "png of c" },
      shown: { charts: [{ file: "figure-2.png" }, { file: "figure-3.png" }] },
    });
  });

  test("are figures and images that are the last expression, too", async () => {
    const figure = await chartsOf("from matplotlib.figure import Figure\nFigure()");
    expect(figure.left).toEqual({ "figure-1.png": "png of drawn" });
    const image = await chartsOf("from PIL.Image import Image\nImage('L').show()\nImage('CMYK')");
    expect(image).toMatchObject({
      left: { "figure-1.png": "PNG of L", "figure-2.png": "PNG of RGB" },
      shown: {
        value: { type: "PIL.Image.Image", text: "<image>" },
        charts: [{ file: "figure-1.png" }, { file: "figure-2.png" }],
      },
    });
    const own = await chartsOf(
      "class Own:\n  def _repr_png_(self): return b'own'\n  def __repr__(self): return 'o'\nOwn()",
    );
    expect(own).toMatchObject({ left: { "figure-1.png": "own" }, shown: { value: { text: "o" } } });
    const raising = await chartsOf(
      "class Own:\n  def _repr_png_(self): 1 / 0\n  def __repr__(self): return 'o'\nOwn()",
    );
    expect(raising).toMatchObject({
      left: {},
      shown: { value: { text: "o" }, notes: [expect.stringContaining("ZeroDivisionError")] },
    });
  });

  test("are data where a library says so", async () => {
    const plotly = await chartsOf("from plotly.basedatatypes import BaseFigure\nBaseFigure().show()\nBaseFigure()");
    const spec = '{"data":[ ],"layout":{"title":"é"}}';
    expect(plotly.shown).toEqual({
      value: { type: "plotly.basedatatypes.BaseFigure", text: "" },
      charts: [
        { kind: "plotly", spec },
        { kind: "plotly", spec },
      ],
    });
    const altair = await chartsOf("import altair\naltair.Chart()");
    expect(altair.shown.charts).toEqual([{ kind: "vega", spec: expect.stringContaining('"mark":"bar"') }]);
    const plain = await chartsOf("{'$schema': 'https://vega.github.io/schema/vega/v6.json', 'marks': []}");
    expect(plain.shown.charts).toEqual([{ kind: "vega", spec: expect.stringContaining('"marks": []') }]);
  });

  test("that are too large, or too many, are left out in words", async () => {
    const large = await chartsOf(
      "from plotly.basedatatypes import BaseFigure\nBaseFigure.size = 300_000\nBaseFigure()",
    );
    expect(large.shown.notes).toEqual([expect.stringContaining("262144 are taken")]);
    const together =
      "from plotly.basedatatypes import BaseFigure\nBaseFigure.size = 150_000\nfor _ in range(4): BaseFigure().show()";
    const { charts, notes } = (await chartsOf(together)).shown;
    expect([charts.length, notes]).toEqual([
      2,
      [expect.stringContaining("no room"), expect.stringContaining("no room")],
    ]);
    const many = await chartsOf("import matplotlib.pyplot as plt\nfor n in range(13): plt.figure(f'f{n}')");
    expect(Object.keys(many.left)).toHaveLength(10);
    expect(many.shown).toMatchObject({ beyond: 3 });
  });

  test("that have nowhere to go are counted", async () => {
    const script = "import matplotlib.pyplot as plt\nplt.figure('a')\nplt.show()\nlast = plt.figure('b')";
    expect(await chartsOf(script, { hasFiles: false })).toEqual({ left: {}, stdout: "", shown: { unkept: 2 } });
    const gone = await chartsOf(`import shutil\nshutil.rmtree("out")\n${script}`);
    expect(gone.shown.notes).toEqual([
      expect.stringContaining("FileNotFoundError"),
      expect.stringContaining("FileNotFoundError"),
    ]);
  });

  test("that cannot be drawn leave no file and no fault, but a note", async () => {
    const script = "import matplotlib.pyplot as plt\nfor name in ['broken', 'half', 'good']: plt.figure(name)";
    expect(await chartsOf(script)).toMatchObject({
      left: { "figure-1.png": "png of good" },
      shown: { notes: [expect.stringContaining("cannot draw"), expect.stringContaining("cannot draw all")] },
    });
  });

  test.each([
    ["any object", "class Any:\n  def __getattr__(self, name): 1 / 0\nsys.modules['matplotlib.pyplot'] = Any()"],
    ["nothing", "sys.modules['matplotlib.pyplot'] = None"],
    ["a module without functions", "import types\nsys.modules['matplotlib.pyplot'] = types.ModuleType('p')"],
    ["endless figures", "import matplotlib.pyplot as p\ndef n():\n  while True: pass\np.get_fignums = n"],
  ])("in whose place a script puts %s are a note", async (_, script) => {
    const { left, shown } = await chartsOf(`${script}\n42`);
    expect(left).toEqual({});
    expect(shown).toMatchObject({ value: { text: "42" }, notes: [expect.stringContaining("matplotlib")] });
  });

  test("of a process that the script has forked are none of the script's", async () => {
    const script = `
import matplotlib.pyplot as plt
if (pid := os.fork()) == 0: plt.figure("child")
else:
  os.waitpid(pid, 0)
  plt.figure("parent")`;
    expect((await chartsOf(script)).left).toEqual({ "figure-1.png": "png of parent" });
  });
}
