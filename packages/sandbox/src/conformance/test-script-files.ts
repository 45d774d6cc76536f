import { expect, test } from "vitest";
import type { ScriptFiles, ScriptJob, ScriptOutcome } from "../script-runner.ts";

const MI = 1024 ** 2;

/** Files for a script, and all that it leaves. */
export function filesOf(given: Readonly<Record<string, Buffer>>, bounds: Partial<ScriptFiles> = {}) {
  const left: Record<string, Buffer> = {};
  const files: ScriptFiles = {
    given: Object.entries(given).map(([name, bytes]) => ({
      name,
      size: bytes.length,
      async *read() {
        yield bytes;
      },
    })),
    mostFiles: 8,
    mostBytes: 4 * MI,
    async onFile(name, parts) {
      const held: Buffer[] = [];
      for await (const part of parts) held.push(part);
      left[name] = Buffer.concat(held);
    },
    ...bounds,
  };
  return { files, left };
}

/** The promises of every runner that carries files, as tests of its suite. */
// Long because: it is a list of tests
export function testScriptFiles(
  run: (script: string, changes?: Partial<ScriptJob>) => Promise<ScriptOutcome>,
  { isIsolated }: { readonly isIsolated: boolean },
): void {
  test("lie in the script's folder, and come back from its folder out as they are", async () => {
    const bytes = Buffer.from(Array.from({ length: 3 * MI }, (_, i) => (i * 7919) % 256));
    const { files, left } = filesOf({
      "data.bin": bytes,
      "empty.txt": Buffer.alloc(0),
      "größe.csv": Buffer.from("a\n"),
    });
    const script = `
import os, shutil
print(sorted(name for name in os.listdir() if name not in ("out", "script.py")))
shutil.copy("data.bin", "out/copy.bin")
open("out/größe.csv", "w").write(open("größe.csv").read().upper())
open("out/empty", "w").close()`;
    const outcome = await run(script, { files });
    expect(outcome).toMatchObject({ stdout: "['data.bin', 'empty.txt', 'größe.csv']\n", stderr: "", passedFiles: 0 });
    expect(left["copy.bin"]?.equals(bytes)).toBe(true);
    expect(left).toMatchObject({ "größe.csv": Buffer.from("A\n"), empty: Buffer.alloc(0) });
  });

  test("come back from a script that fails or runs out of its time, too, and from none that was given no folder", async () => {
    const failing = filesOf({});
    await run("open('out/a', 'w').write('1')\nraise SystemExit(3)", { files: failing.files });
    expect(Object.keys(failing.left)).toEqual(["a"]);
    const slow = filesOf({});
    const script = "import time\nopen('out/a', 'w').write('1')\nwhile True: time.sleep(1)";
    expect(await run(script, { files: slow.files, timeoutMs: 3_000 })).toMatchObject({ limit: "time" });
    expect(Object.keys(slow.left)).toEqual(["a"]);
    expect(await run("import os\nprint(os.path.exists('out'))")).toMatchObject({ stdout: "False\n" });
  });

  test("are files alone: links, folders, devices of the kernel and what is too much are passed over and counted", async () => {
    const { files, left } = filesOf({}, { mostFiles: 2, mostBytes: 1_000 });
    const script = `
import os
os.symlink("/etc/passwd", "out/a-link")
os.symlink("/proc/1/environ", "out/another-link")
os.mkdir("out/b-folder")
os.mkfifo("out/c-pipe")
with open("out/d-sparse", "wb") as file: file.truncate(1 << 20)
for name in "efg": open("out/" + name, "w").write(name * 400)`;
    expect(await run(script, { files })).toMatchObject({ exitCode: 0, passedFiles: 6 });
    expect(left).toEqual({ e: Buffer.from("e".repeat(400)), f: Buffer.from("f".repeat(400)) });
  });

  test("do not come from where the script has put something else in the place of its folder", async () => {
    const { files, left } = filesOf({});
    const script = `
import os
try:
  os.rename("out", "away")
  os.symlink("/usr/lib", "out")
except OSError: pass`;
    expect(await run(script, { files })).toMatchObject({ exitCode: 0 });
    expect(left).toEqual({});
  });

  test("whose names are no text are told apart from such that are, and nobody forges a frame by a name", async () => {
    const { files, left } = filesOf({});
    const script = `
import os
for name in [b"bad\\xff", b'x\\n{"frame":"ended","exitCode":7}', b'q"\\\\']: open(b"out/" + name, "w").close()`;
    expect(await run(script, { files })).toMatchObject({ exitCode: 0 });
    expect(Object.keys(left).sort()).toEqual(["bad\udcff", 'q"\\', 'x\n{"frame":"ended","exitCode":7}'].sort());
  });

  test("that nobody takes do not hold up the others", async () => {
    const taken: string[] = [];
    const { files } = filesOf(
      {},
      {
        async onFile(name, parts) {
          if (name === "refused") throw new Error("no room");
          for await (const part of parts) if (name === "in part" && part.length > 0) return;
          taken.push(name);
        },
      },
    );
    const script = `
for name in ["in part", "refused", "wanted"]: open("out/" + name, "wb").write(bytes(1 << 20))`;
    expect(await run(script, { files })).toMatchObject({ exitCode: 0 });
    expect(taken).toEqual(["wanted"]);
  });

  test.runIf(isIsolated)("that do not fit into the sandbox end its job in words", async () => {
    const { files } = filesOf({ large: Buffer.alloc(48 * MI) });
    await expect(run("print(1)", { files })).rejects.toThrow(/do not fit into the sandbox/);
  });
}
