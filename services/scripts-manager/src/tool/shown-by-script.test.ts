import { createMemoryBus, silentLogger } from "@rockbot/bus";
import { loadConfig } from "@rockbot/process/config";
import { defaultSandboxLimits, openLocalMaker, pooledRunner } from "@rockbot/sandbox";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { configSchema } from "../generated/config.ts";
import { startScriptsManager } from "../scripts-manager.ts";
import { shownByScript } from "./shown-by-script.ts";

/** A manager with real interpreters, and a caller. */
async function start() {
  await using stack = new AsyncDisposableStack();
  const bus = stack.use(createMemoryBus());
  const path = process.env["PATH"] ?? "";
  const maker = await openLocalMaker({ log: silentLogger, limits: defaultSandboxLimits, path, isUnsafe: true });
  const runner = stack.use(
    pooledRunner(maker, { floor: 0, ceiling: 2, idleMs: 60_000, keepBytes: 100_000, log: silentLogger }),
  );
  const config = loadConfig(configSchema, { env: {} });
  stack.use(await startScriptsManager(bus, config, { service: "scripts-manager", topic: "script.invoke", runner }));
  const ann = stack.use(await createToolCaller(bus, { agent: "ann" }));
  await ann.discovered();
  const all = stack.move();
  return {
    run: (script: string) => ann.call("execute_python_script", { script }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** What a manager makes of bytes that a script's process has written in the place of what it shows. */
const read = (said: unknown) =>
  shownByScript({ shown: Buffer.from(typeof said === "string" ? said : JSON.stringify(said)), exitCode: 0 });

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
