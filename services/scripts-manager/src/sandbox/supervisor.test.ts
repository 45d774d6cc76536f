import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { temporaryFolder } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { findPython } from "../local/find-python.ts";
import { type PackedLayer, packLayer } from "../packages/pack-layer.ts";
import { encodeJob } from "./encode-job.ts";
import { defaultSandboxLimits } from "./sandbox-limits.ts";
import { supervisorCommand } from "./supervisor-command.ts";

const python = await findPython({ python: undefined, path: process.env["PATH"] ?? "" });
const MIB = 1024 * 1024;

/** What the supervisor says, as a plain process, when it is given bytes and then nothing any more; what it unpacks lies in `unpacked`. */
async function tell(unpacked: string, bytes: Buffer): Promise<{ readonly said: string; readonly exitCode: number | null }> {
  const options = { folder: unpacked, packagesFolder: unpacked, packagesBytes: MIB, endsWithInput: false };
  const [program = "", ...args] = supervisorCommand(python?.executable ?? "", defaultSandboxLimits, options);
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.on("error", () => {}); // it ends when it has read enough
  child.stdin.end(bytes);
  const ended = once(child, "close");
  const said = await text(child.stdout);
  await ended;
  return { said, exitCode: child.exitCode };
}

async function encoded(layer: PackedLayer, script = "import layered; print(layered.answer())"): Promise<Buffer> {
  const job = { id: "0".repeat(32), script, timeoutMs: 20_000, packages: { key: "layer", pinned: [] } };
  return await buffer(encodeJob(job, { keepBytes: 1_000, layer }));
}

// Who has no Python has no scripts either.
describe.runIf(python !== undefined)("packages that come with a job", { timeout: 60_000 }, () => {
  const layerOf = (content: Buffer, bytes = content.length): PackedLayer => ({
    bytes,
    async *chunks() {
      yield content;
    },
  });
  const fileOf = (path: string, bytes: number): Buffer => Buffer.from(`${JSON.stringify({ path, bytes, executable: false })}\nx`);

  /** A layer with a module. */
  async function packed(): Promise<PackedLayer> {
    using folder = temporaryFolder();
    mkdirSync(join(folder.path, "layered/inner"), { recursive: true });
    folder.write("layered/__init__.py", "from .inner.value import answer\n");
    folder.write("layered/inner/value.py", "def answer(): return 42\n");
    return layerOf(await buffer((await packLayer(folder.path, { maxBytes: MIB })).chunks()));
  }

  test("are there before the script begins, and their files are closed to changes", async () => {
    using unpacked = temporaryFolder();
    const { said } = await tell(unpacked.path, await encoded(await packed()));

    expect(said).toContain(`"data":"${Buffer.from("42\n").toString("base64")}"`);
    expect(said).toContain('"exitCode":0');
    expect(statSync(join(unpacked.path, "layer/layered/inner/value.py")).mode & 0o777).toBe(0o444);
  });

  test("begin nothing unless all of them came", async () => {
    const whole = await encoded(await packed());
    for (const cut of [1, 64, 65, 100, whole.length - 100]) {
      using unpacked = temporaryFolder();
      const { said, exitCode } = await tell(unpacked.path, whole.subarray(0, whole.length - cut));

      expect([cut, said.includes("started"), exitCode]).toEqual([cut, false, 0]);
    }
  });

  test("begin nothing unless they are what was sent", async () => {
    const whole = await encoded(await packed());
    const changed = Buffer.from(whole);
    changed[changed.length - 70] = 0x20;
    using unpacked = temporaryFolder();

    expect(await tell(unpacked.path, changed)).toMatchObject({ said: expect.not.stringContaining("started"), exitCode: 1 });
  });

  test.each([
    ["leads above the folder", "../escaped.py"],
    ["leads from the root", "/tmp/escaped.py"],
    ["leads through the folder and out", "a/../../escaped.py"],
  ])("begin nothing if a path %s", async (_, path) => {
    using parent = temporaryFolder();
    const unpacked = join(parent.path, "packages");
    mkdirSync(unpacked);

    expect(await tell(unpacked, await encoded(layerOf(fileOf(path, 1))))).toMatchObject({ said: expect.not.stringContaining("started"), exitCode: 1 });
    expect(readdirSync(parent.path)).toEqual(["packages"]);
  });

  test("begin nothing if they are more than there is room for, or a file is more than was told", async () => {
    const file = fileOf("one.py", 100);
    for (const bytes of [MIB + 1, file.length]) {
      using unpacked = temporaryFolder();
      const told = await tell(unpacked.path, await encoded(layerOf(file, bytes)));

      expect(told).toMatchObject({ said: expect.not.stringContaining("started"), exitCode: 1 });
    }
  });
});
