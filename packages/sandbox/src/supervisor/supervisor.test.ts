import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { createSemaphore } from "@rockbot/base";
import { temporaryFolder } from "@rockbot/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type EncodeJobOptions, encodeJob } from "../job/encode-job.ts";
import type { Frame } from "../job/frames.ts";
import { type PackedLayer, packLayer } from "../layer/pack-layer.ts";
import { findPython } from "../local/find-python.ts";
import { defaultSandboxLimits, type SandboxLimits } from "../sandbox-limits.ts";
import { supervisorCommand } from "./supervisor-command.ts";

const python = await findPython({ python: undefined, path: process.env["PATH"] ?? "" });
const MIB = 1024 * 1024;

/**
 * What the supervisor says, as a plain process, when it is given bytes and then nothing any more; what it unpacks lies
 * in `unpacked`.
 */
async function tell(
  unpacked: string,
  bytes: Buffer,
  limits = defaultSandboxLimits,
): Promise<{ readonly said: string; readonly exitCode: number | null }> {
  const options = { folder: unpacked, packagesFolder: unpacked, packagesBytes: MIB, endsWithInput: false };
  const [program = "", ...args] = supervisorCommand(python?.executable ?? "", limits, options);
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

// A machine without Python runs no scripts.
describe.runIf(python !== undefined)("packages that come with a job", { timeout: 60_000 }, () => {
  const layerOf = (content: Buffer, bytes = content.length): PackedLayer => ({
    bytes,
    async *chunks() {
      yield content;
    },
  });
  const fileOf = (path: string, bytes: number): Buffer =>
    Buffer.from(`${JSON.stringify({ path, bytes, executable: false })}\nx`);

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

  test("stand behind the standard library, for the script and for interpreters that it starts", async () => {
    using folder = temporaryFolder();
    folder.write("enum.py", "raise ImportError('not the standard one')\n");
    folder.write("layered.py", "def answer(): return 42\n");
    const layer = layerOf(await buffer((await packLayer(folder.path, { maxBytes: MIB })).chunks()));
    using unpacked = temporaryFolder();
    const use =
      "import sys; sys.modules.pop('enum', 0); import enum, layered; print(enum.Enum.__name__, layered.answer())";
    const { said } = await tell(
      unpacked.path,
      await encoded(layer, `${use}\nimport subprocess\nsubprocess.run([sys.executable, "-c", ${JSON.stringify(use)}])`),
    );

    const printed = said
      .split("\n")
      .flatMap((line) =>
        line.startsWith('{"frame":"out"') ? [Buffer.from(JSON.parse(line).data, "base64").toString()] : [],
      );
    expect([said, printed.join("")]).toEqual([expect.stringContaining('"exitCode":0'), "Enum 42\nEnum 42\n"]);
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

    expect(await tell(unpacked.path, changed)).toMatchObject({
      said: expect.not.stringContaining("started"),
      exitCode: 1,
    });
  });

  test.each([
    ["leads above the folder", "../escaped.py"],
    ["leads from the root", "/tmp/escaped.py"],
    ["leads through the folder and out", "a/../../escaped.py"],
  ])("begin nothing if a path %s", async (_, path) => {
    using parent = temporaryFolder();
    const unpacked = join(parent.path, "packages");
    mkdirSync(unpacked);

    expect(await tell(unpacked, await encoded(layerOf(fileOf(path, 1))))).toMatchObject({
      said: expect.not.stringContaining("started"),
      exitCode: 1,
    });
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

describe.runIf(python !== undefined)("the numbers of a job", { timeout: 120_000 }, () => {
  interface Numbers extends Pick<EncodeJobOptions, "keepBytes"> {
    readonly timeoutMs: number;
    /** Until when it is of use, from now on. */
    readonly withinMs: number | undefined;
    readonly inputBytes: number;
    readonly limits: SandboxLimits;
  }
  const usual: Numbers = {
    timeoutMs: 20_000,
    withinMs: undefined,
    inputBytes: 0,
    keepBytes: 1_000,
    limits: defaultSandboxLimits,
  };
  const turns = createSemaphore(4);

  /** What becomes of a script that prints the length of its input, where the numbers are these. */
  async function end(numbers: Partial<Numbers>): Promise<Record<string, unknown>> {
    const { timeoutMs, withinMs, inputBytes, keepBytes, limits } = { ...usual, ...numbers };
    const job = {
      id: "0".repeat(32),
      script: "import sys; print(len(sys.stdin.read()))",
      input: "x".repeat(inputBytes),
      timeoutMs,
    };
    using _turn = await turns.acquire();
    using folder = temporaryFolder();
    const endBy = withinMs === undefined ? undefined : performance.now() + withinMs;
    const { said } = await tell(folder.path, await buffer(encodeJob(job, { keepBytes, endBy })), limits);
    const frames = said
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Frame);
    const printed = frames
      .flatMap((frame) => (frame.frame === "out" ? [Buffer.from(frame.data, "base64").toString()] : []))
      .join("");
    return Object.assign({}, ...frames, { printed });
  }

  const borders = [
    0,
    1,
    99,
    100,
    101,
    999,
    1_000,
    1_001,
    60_000,
    1_200_000,
    2 ** 31 - 1,
    2 ** 31,
    2 ** 32,
    2 ** 53,
    2 ** 63,
    1e300,
  ];
  const strange = [
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    -1,
    -0,
    0.5,
    59_499.123456789,
    1e-300,
  ];
  const anyNumber = fc.oneof(
    fc.constantFrom(...borders, ...strange),
    fc.double(),
    fc.double({ min: 0, max: 3_000_000 }),
  );
  // The least that the settings take, with its neighbours, and neighbours of all other borders.
  const limits = fc.record({
    memoryBytes: fc.oneof(
      fc.constantFrom(32 * MIB, 32 * MIB + 0.5, 65_536 * MIB),
      fc.double({ min: 32 * MIB, max: 2 ** 54, noNaN: true }),
    ),
    processes: fc.constantFrom(1, 2, 64, 4_096, 1.5, 2 ** 53),
    storageBytes: fc.oneof(
      fc.constantFrom(MIB, 65_536 * MIB, 2 ** 53),
      fc.double({ min: MIB, max: 2 ** 54, noNaN: true }),
    ),
    storageFiles: fc.constant(1_000),
    processors: fc.constantFrom(0.05, 64),
  });
  const inputSizes = [0, 1, 131_056, 131_057, 131_058, 131_059, 131_060, 131_071, 131_072, 131_073, 900_000, 1_000_000];

  test("let it run whatever they are: each that can be written can be read", async () => {
    const numbers = fc.record({
      timeoutMs: anyNumber.filter((ms) => ms >= 20_000), // with less it may be over before it has printed, on a busy machine
      withinMs: fc.option(fc.double({ min: 20_000, max: 1e300, noNaN: true }), { nil: undefined }),
      inputBytes: fc.constantFrom(...inputSizes),
      keepBytes: fc.oneof(
        fc.constantFrom(8, 1_000, 400_000, 2 ** 53, Number.POSITIVE_INFINITY),
        fc.double({ min: 8, max: 1e300, noNaN: true }),
      ),
      limits,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(numbers, { minLength: 4, maxLength: 4 }), async (four) => {
        const ends = await Promise.all(four.map(end));
        expect(ends).toMatchObject(
          four.map(({ inputBytes }) => ({
            frame: "ended",
            exitCode: 0,
            limit: null,
            printed: `${inputBytes}\n`,
            droppedOut: 0,
          })),
        );
      }),
      { numRuns: 12, endOnFailure: true },
    );
  });

  test("that say what is too little, or nothing, give a script the least time", async () => {
    const times = [...strange, ...borders].filter((ms) => !(ms > 100));
    for (const ends of [
      await Promise.all(times.map((timeoutMs) => end({ timeoutMs }))),
      await Promise.all(times.map((withinMs) => end({ withinMs }))),
    ])
      expect(ends.map(({ timeoutMs, frame }) => [timeoutMs, frame])).toEqual(times.map(() => [100, "ended"]));
  });

  test("are told as they are held: whole, and no more than the call has left", async () => {
    expect(await end({ timeoutMs: 59_499.6 })).toMatchObject({ timeoutMs: 59_500 });
    const { timeoutMs } = await end({ timeoutMs: 60_000, withinMs: 30_000.5 });
    expect(timeoutMs).toSatisfy((ms: number) => Number.isInteger(ms) && ms > 20_000 && ms < 30_000);
  });

  test("keep as much output as they say", async () => {
    for (const [keepBytes, printed, droppedOut] of [
      [0, "", 7],
      [Number.NaN, "", 7],
      [-5, "", 7],
      [6, "900000", 1],
      [7, "900000\n", 0],
    ] as const)
      expect(await end({ inputBytes: 900_000, keepBytes })).toMatchObject({ printed, droppedOut });
  });
});

describe.runIf(python !== undefined)("the supervisor's own failure", { timeout: 60_000 }, () => {
  test("is said in words, by whatever it fails", async () => {
    using folder = temporaryFolder();
    const header = {
      job: "0",
      timeoutMs: 1_000,
      withinMs: null,
      packages: null,
      packagesBytes: null,
      scriptBytes: 1,
      inputBytes: null,
      keepBytes: 1,
    };
    for (const [line, words] of [
      ["no JSON", /SyntaxError: .* \(read_json, line \d+\)/],
      [JSON.stringify({ ...header, timeoutMs: "soon" }), /TypeError/],
      [JSON.stringify({ ...header, scriptBytes: 1e12 }), /the job is too large/],
    ] as const) {
      const bytes = Buffer.from(`${line}\nx`);
      const { said } = await tell(
        folder.path,
        Buffer.concat([bytes, Buffer.from(createHash("sha256").update(bytes).digest("hex"))]),
      );

      expect(JSON.parse(said.trim().split("\n").at(-1) ?? "")).toEqual({
        frame: "failed",
        reason: expect.stringMatching(words),
      });
    }
  });

  test("to become the script is told as such, not as the script's", async () => {
    const whole = await buffer(
      encodeJob({ id: "0".repeat(32), script: "print(1)", timeoutMs: 20_000 }, { keepBytes: 1_000 }),
    );
    using folder = temporaryFolder();
    mkdirSync(join(folder.path, "script.py")); // where the script would lie
    const { said } = await tell(folder.path, whole);

    expect(JSON.parse(said.trim().split("\n").at(-1) ?? "")).toEqual({
      frame: "failed",
      reason: expect.stringMatching(/could not be confined: IsADirectoryError: .* \(run_script, line \d+\)/),
    });
  });
});
