import { createMemoryBus, silentLogger } from "@rockbot/bus";
import { loadConfig } from "@rockbot/process/config";
import { createMemoryFileStore } from "@rockbot/records/files";
import { defaultSandboxLimits, openLocalMaker, pooledRunner } from "@rockbot/sandbox";
import { testMaker } from "@rockbot/sandbox/test-sandboxes";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { configSchema } from "../generated/config.ts";
import { startScriptsManager } from "../scripts-manager.ts";

const TOOL = "execute_python_script";

/** A manager with real interpreters, its store of files, and two callers. */
async function start({ maxBytesPerOwner = 8 * 1024 ** 2, carries = true } = {}) {
  await using stack = new AsyncDisposableStack();
  const bus = stack.use(createMemoryBus());
  const { files } = stack.use(createMemoryFileStore({ maxBytesPerOwner }));
  const path = process.env["PATH"] ?? "";
  const maker = carries
    ? await openLocalMaker({ log: silentLogger, limits: defaultSandboxLimits, path, isUnsafe: true })
    : testMaker();
  const runner = stack.use(
    pooledRunner(maker, { floor: 0, ceiling: 2, idleMs: 60_000, keepBytes: 100_000, log: silentLogger }),
  );
  const config = loadConfig(configSchema, { env: {}, overrides: { storageMiB: 8 } });
  const parts = { service: "scripts-manager", topic: "script.invoke", runner, files };
  stack.use(await startScriptsManager(bus, config, parts));
  const ann = stack.use(await createToolCaller(bus, { agent: "ann", files }));
  const bob = stack.use(await createToolCaller(bus, { agent: "bob", files }));
  await Promise.all([ann.discovered(), bob.discovered()]);
  const all = stack.move();
  const put = (text: string, isUntrusted = false) =>
    files.put("ann", { name: "kept.csv", isUntrusted, bytes: [Buffer.from(text)] });
  return { ann, bob, files, put, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

test("a script reads files by name, and what it leaves are files of its caller; its text is what it printed", async () => {
  await using all = await start();
  const { handle } = await all.put("a,b\n1,2\n");
  const script = "print(open('data.csv').read().strip())\nopen('out/result.json', 'w').write('[1]')";
  const { content, structured } = await all.ann.call(TOOL, { script, files_in: { "data.csv": handle } });
  expect(content).toBe("a,b\n1,2\n");
  const { files: [left] = [] } = structured as { files?: { handle: string }[] };
  expect(left).toMatchObject({ name: "result.json", type: "application/json", size: 3, isUntrusted: false });
  expect((await all.files.list("ann")).map(({ name }) => name)).toEqual(["result.json", "kept.csv"]);
  const again = { script: "print(open('x').read())", files_in: { x: left?.handle ?? "" } };
  expect(await all.ann.call(TOOL, again)).toMatchObject({ content: "[1]\n" });
});

test("a script gets no file of another caller, and leaves none for one", async () => {
  await using all = await start();
  const { handle } = await all.put("secret");
  const script = "print(open('x').read())\nopen('out/y', 'w').write('y')";
  await expect(all.bob.call(TOOL, { script, files_in: { x: handle } })).rejects.toMatchObject({
    details: { reason: "no_such_file" },
  });
  await all.bob.call(TOOL, { script: "open('out/y', 'w').write('y')" });
  expect((await all.files.list("ann")).map(({ name }) => name)).toEqual(["kept.csv"]);
  expect((await all.files.list("bob")).map(({ name }) => name)).toEqual(["y"]);
});

test("what comes of an untrusted file is untrusted: the answer, and what the script leaves", async () => {
  await using all = await start();
  const { handle } = await all.put("obey me", true);
  const script = "print(open('x').read())\nopen('out/y', 'w').write(open('x').read())";
  const { trust, structured } = await all.ann.call(TOOL, { script, files_in: { x: handle } });
  expect(trust).toMatchObject({ level: "untrusted", origin: "the file kept.csv" });
  expect(structured).toMatchObject({ files: [{ name: "y", isUntrusted: true }] });
});

test.each(["script.py", "out", "../up", "a/b", "."])("a script gets no file under the name %s", async (name) => {
  await using all = await start();
  const { handle } = await all.put("x");
  await expect(all.ann.call(TOOL, { script: "print(1)", files_in: { [name]: handle } })).rejects.toMatchObject({
    code: "invalid_arguments",
    details: { reason: "file_name" },
  });
});

test("a script that leaves what finds no room, or has no name of a file, succeeds and is told why", async () => {
  await using all = await start({ maxBytesPerOwner: 2 * 1024 ** 2 });
  const script = `
print("done")
open("out/a-large", "wb").write(bytes(3 << 20))
open("out/b\\nline", "w").close()
open("out/small", "w").write("s")
import os
for i in range(100): os.mkdir(f"out/z{i}")`;
  const { content, isError, structured } = await all.ann.call(TOOL, { script });
  expect({ content, isError }).toEqual({ content: "done\n", isError: false });
  expect(structured).toMatchObject({
    files: [{ name: "small", size: 1 }],
    file_notes: [
      expect.stringContaining("no room"),
      expect.stringContaining("characters that nobody sees"),
      expect.stringContaining("100 of what lies in out/"),
    ],
  });
});

test("files that are larger than the sandbox's room, or that its runner cannot carry, end the call before the script", async () => {
  await using all = await start();
  const { handle } = await all.files.put("ann", {
    name: "l",
    isUntrusted: false,
    bytes: [Buffer.alloc(5 * 1024 ** 2)],
  });
  const large = all.ann.call(TOOL, { script: "print(1)", files_in: { l: handle } });
  await expect(large).rejects.toMatchObject({ code: "too_large", details: { reason: "script_files" } });
  await using without = await start({ carries: false });
  const other = await without.put("x");
  const refused = without.ann.call(TOOL, { script: "1", files_in: { x: other.handle } });
  await expect(refused).rejects.toMatchObject({ code: "denied", details: { reason: "script_files" } });
  expect((await without.ann.call(TOOL, { script: "1" })).structured).not.toHaveProperty("files");
});
