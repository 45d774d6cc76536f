import { createMemoryBus, silentLogger } from "@rockbot/bus";
import { loadConfig } from "@rockbot/process/config";
import { createMemoryFileStore } from "@rockbot/records/files";
import { defaultSandboxLimits, openLocalMaker, pooledRunner } from "@rockbot/sandbox";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { configSchema } from "../../generated/config.ts";
import { startScriptsManager } from "../../scripts-manager.ts";
import { shownByScript } from "./shown-by-script.ts";

/** A manager with real interpreters, and a caller who has files, or none. */
async function start({ hasFiles = false } = {}) {
  await using stack = new AsyncDisposableStack();
  const bus = stack.use(createMemoryBus());
  const path = process.env["PATH"] ?? "";
  const maker = await openLocalMaker({ log: silentLogger, limits: defaultSandboxLimits, path, isUnsafe: true });
  const runner = stack.use(
    pooledRunner(maker, { floor: 0, ceiling: 2, idleMs: 60_000, keepBytes: 100_000, log: silentLogger }),
  );
  const config = loadConfig(configSchema, { env: {} });
  const files = hasFiles ? stack.use(createMemoryFileStore({ maxBytesPerOwner: 8 * 1024 ** 2 })).files : undefined;
  const parts = { service: "scripts-manager", topic: "script.invoke", runner, files };
  stack.use(await startScriptsManager(bus, config, parts));
  const ann = stack.use(await createToolCaller(bus, { agent: "ann" }));
  await ann.discovered();
  const all = stack.move();
  return {
    files,
    run: (script: string) => ann.call("execute_python_script", { script }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** What a manager makes of bytes that a script's process has written in the place of what it shows. */
const read = (said: unknown) =>
  shownByScript({ shown: Buffer.from(typeof said === "string" ? said : JSON.stringify(said)), exitCode: 0 }, undefined);

test("the value of a script's last expression is a field of its answer, whose text is what it printed", async () => {
  await using all = await start();
  const { content, structured } = await all.run("print('out')\n{'a': 6 * 7}");
  expect(content).toBe("out\n");
  expect(structured).toMatchObject({ stdout: "out\n", value: { type: "dict", text: "{'a': 42}", is_cut: false } });
  const none = await all.run("print('out')");
  expect(none).toMatchObject({ content: "out\n" });
  expect(none.structured).not.toHaveProperty("value");
  expect(none.structured).not.toHaveProperty("shown_notes");
  expect((await all.run("7 * 6")).content).toBe("(no output)");
});

test("a script that fails shows nothing, and one whose value cannot be shown succeeds and is told why", async () => {
  await using all = await start();
  expect((await all.run("1\n1 / 0")).structured).not.toHaveProperty("value");
  const { content, isError, structured } = await all.run(
    "print('out')\nclass A:\n  def __repr__(self): raise KeyError('no')\nA()",
  );
  expect({ content, isError }).toEqual({ content: "out\n", isError: false });
  expect(structured).toMatchObject({
    value: { type: "__main__.A", text: "" },
    shown_notes: ["The value of the last expression is not shown: KeyError: 'no'"],
  });
});

test("a script that forges what it shows gets no more than a value of the known form, within its bounds", async () => {
  const noForm = { shown_notes: [expect.stringContaining("has not the form of a value")] };
  for (const forged of ["", "{", "[]", "7", "null", "\xff", `${"[".repeat(200_000)}`])
    expect(read(forged)).toEqual(noForm);
  for (const value of [7, [], {}, { type: 1, text: "x" }, { type: "x" }]) expect(read({ value })).toEqual(noForm);
  const long = "x".repeat(100_000);
  const many = Array.from({ length: 40 }, () => "y".repeat(400));
  const table = {
    columns: many,
    index: many,
    rows: Array.from({ length: 50 }, () => many),
    rowCount: 5,
    columnCount: 9,
  };
  const { value, shown_notes } = read({
    value: { type: long, text: `\ud800${long}`, more: long, table },
    notes: many,
    other: 1,
  });
  expect(Object.keys(value ?? {}).sort()).toEqual(["is_cut", "table", "text", "type"]);
  expect(value).toMatchObject({ type: "x".repeat(200), is_cut: true });
  expect([value?.text.length, value?.text.isWellFormed()]).toEqual([8_192, true]);
  expect([value?.table?.columns.length, value?.table?.index.length, value?.table?.rows.length]).toEqual([30, 20, 20]);
  expect(value?.table?.rows.every((row) => row.length === 30 && row.every((cell) => cell.length === 200))).toBe(true);
  expect(shown_notes?.map(({ length }) => length)).toEqual(Array.from({ length: 10 }, () => 300));
  expect(read({ notes: ["a\u202eb\u0007"] })).toEqual({ shown_notes: ["ab"] });
  for (const rowCount of [-1, 1.5, "7", null])
    expect(read({ value: { type: "x", text: "x", table: { ...table, rowCount } } }).value).not.toHaveProperty("table");
});

test("a script that writes over the memory in which it shows what it does ends as it would, and shows no value", async () => {
  await using all = await start();
  const script = `
import os, sys
frame = sys._getframe()
while "memory" not in frame.f_locals: frame = frame.f_back
memory = frame.f_locals["memory"]
memory[:8] = b"\\xff" * 8
memory[8:] = b"<" * (len(memory) - 8)
print("done", flush=True)
os._exit(0)`;
  const { content, structured } = await all.run(script);
  expect(content).toBe("done\n");
  expect(structured).not.toHaveProperty("value");
  expect(structured).toHaveProperty("shown_notes");
});

/** A module in the place of matplotlib. Its figures are saved as `bytes`, an expression of Python. */
const standIn = (bytes: string): string => `
import os, struct, sys, types, zlib
def part(name, data): return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
PNG = b"\\x89PNG\\r\\n\\x1a\\n" + part(b"IHDR", struct.pack(">IIBBBBB", 3, 2, 8, 0, 0, 0, 0)) + part(b"IDAT", zlib.compress(bytes(8))) + part(b"IEND", b"")
class Figure:
  def savefig(self, file, format, bbox_inches): file.write(${bytes})
figures = {1: Figure()}
plt = sys.modules["matplotlib.pyplot"] = types.ModuleType("matplotlib.pyplot")
plt.get_fignums, plt.figure, plt.close = lambda: list(figures), figures.get, figures.pop
print("drawn")
`;

test("a figure that a script leaves open is a chart of its answer, and a file of its caller", async () => {
  await using all = await start({ hasFiles: true });
  const { content, structured } = await all.run(standIn("PNG"));
  const [file] = (await all.files?.list("ann")) ?? [];
  expect(content).toBe("drawn\n");
  expect(structured).toMatchObject({
    charts: [{ kind: "png", file: file?.handle, name: "figure-1.png", width: 3, height: 2 }],
    files: [{ handle: file?.handle, type: "image/png" }],
  });
});

test("a picture is judged by its bytes, and not by its name", async () => {
  await using all = await start({ hasFiles: true });
  for (const bytes of [
    "b'<html><script>alert(1)</script></html>'",
    "PNG[:20]",
    "b''",
    "PNG.replace(b'IHDR', b'iHDR')",
  ]) {
    const { structured } = await all.run(standIn(bytes));
    expect(structured).not.toHaveProperty("charts");
    expect(structured).toMatchObject({
      files: [{ name: "figure-1.png" }],
      shown_notes: ['The picture "figure-1.png" is not shown: its bytes are no PNG image.'],
    });
  }
});

test("without a store of files a script is told how many pictures were not kept", async () => {
  await using all = await start();
  const { structured } = await all.run(standIn("PNG"));
  expect(structured).toMatchObject({ shown_notes: ["Not kept, as scripts leave no files here: 1 picture."] });
});

test("a chart as data is a field of the answer, and one that is more than data is a text with the reason", async () => {
  await using all = await start();
  const chart = (data: string) =>
    `{"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "mark": "bar", "data": ${data}}`;
  expect((await all.run(chart('{"values": [{"a": 1}]}'))).structured).toMatchObject({
    value: { type: "dict", text: "" },
    charts: [{ kind: "vega-lite", spec: { mark: "bar", data: { values: [{ a: 1 }] } } }],
  });
  const { structured } = await all.run(chart('{"url": "https://example.com/data.csv"}'));
  expect(structured).toMatchObject({
    charts: [
      {
        kind: "vega-lite",
        refused: "The chart is not given as data: it has an address at data.url.",
        text: expect.stringContaining("example.com"),
      },
    ],
  });
  expect(structured?.["charts"]).not.toEqual([expect.objectContaining({ spec: expect.anything() })]);
});

test("a script that forges charts gets none but of the known forms, and none of files that it has not left", () => {
  const charts = [
    7,
    {},
    { file: "../etc/passwd" },
    { file: 7 },
    { kind: "html", spec: "{}" },
    { kind: "plotly", spec: {} },
  ];
  const { shown_notes, ...rest } = read({ charts });
  expect(rest).toEqual({});
  expect(shown_notes).toHaveLength(charts.length);
  const many = Array.from({ length: 1_000 }, () => ({ kind: "plotly", spec: '{"data":[]}' }));
  expect(read({ charts: many, unkept: -1, beyond: "x" })).toEqual({
    charts: Array.from({ length: 10 }, () => ({ kind: "plotly", spec: { data: [] } })),
  });
});

test("the libraries themselves show what their stand-ins show", async ({ skip }) => {
  await using all = await start({ hasFiles: true });
  const names = ["matplotlib", "pandas", "PIL", "plotly", "altair"];
  const missing = await all.run(
    `import importlib.util\nprint(*[name for name in ${JSON.stringify(names)} if importlib.util.find_spec(name) is None])`,
  );
  const absent = String(missing.content).trim();
  skip(absent !== "", `the Python of this machine has no ${absent}`);
  const drawn = await all.run(`
import matplotlib.pyplot as plt, pandas as pd, plotly.express as px
from PIL import Image
plt.plot([1, 2]); plt.show()
figure, axes = plt.subplots(); axes.bar([1], [2]); figure.savefig("out/own.png")
plt.figure(); plt.hist([1, 1, 2])
Image.new("CMYK", (4, 5)).show()
px.scatter(x=[1, 2], y=[3, 4]).show()
print("drawn")
pd.DataFrame({"a": [1, 2.5], "b": ["x", None]}, index=["first", "second"])`);
  expect(drawn.content).toBe("drawn\n");
  expect(drawn.structured).toMatchObject({
    stderr: "",
    value: {
      text: expect.stringContaining("first"),
      table: { columns: ["a", "b"], index: ["first", "second"], row_count: 2 },
    },
    charts: [
      { kind: "png", name: "figure-1.png" },
      { kind: "png", name: "figure-2.png", width: 4, height: 5 },
      { kind: "plotly", spec: { data: [{ type: "scatter" }] } },
      { kind: "png", name: "figure-3.png" },
    ],
    files: [{ name: "figure-1.png" }, { name: "figure-2.png" }, { name: "figure-3.png" }, { name: "own.png" }],
  });
  expect(drawn.structured).not.toHaveProperty("shown_notes");
  const bars = `import altair, pandas\naltair.Chart(pandas.DataFrame({"a": [1], "b": ["x"]})).mark_bar().encode(x="a", y="b").interactive()`;
  expect((await all.run(bars)).structured).toMatchObject({
    charts: [{ kind: "vega-lite", spec: { mark: { type: "bar" } } }],
  });
});
