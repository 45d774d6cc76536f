import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { ToolError } from "@rockbot/contracts";
import { describe, expect, test } from "vitest";
import type { PackedLayer } from "../layer/pack-layer.ts";
import type { Sandbox, SandboxEnd } from "../sandbox.ts";
import type { ScriptJob } from "../script-runner.ts";
import { type Frame, MAX_FRAME_BYTES } from "./frames.ts";
import { type JobOutcome, runJob } from "./run-job.ts";

const job: ScriptJob = { id: "0123456789abcdef0123456789abcdef", script: "print('é')", input: "in", timeoutMs: 1_000 };
const started: Frame = { frame: "started", job: job.id };
const ended: Frame = { frame: "ended", exitCode: 0, signal: null, limit: null, droppedOut: 0, droppedErr: 0, runMs: 1 };
const cutOff = new ToolError("execution_failed", "the sandbox ended");

/** A sandbox that sends these frames, whatever job it gets. */
function saying(...said: readonly (Frame | Buffer)[]) {
  const input = new PassThrough();
  const output = new PassThrough();
  const gone = Promise.withResolvers<SandboxEnd>();
  const sandbox = {
    input,
    output,
    gone: gone.promise,
    disposals: 0,
    end: (end: Partial<SandboxEnd> = {}) => {
      output.end();
      gone.resolve({ isOutOfMemory: false, error: cutOff, ...end });
    },
    async [Symbol.asyncDispose]() {
      sandbox.disposals++;
    },
  } satisfies Sandbox & Record<string, unknown>;
  for (const one of said) output.write(Buffer.isBuffer(one) ? one : `${JSON.stringify(one)}\n`);
  return sandbox;
}

const run = (sandbox: Sandbox, { signal = new AbortController().signal, keepBytes = 100 } = {}): Promise<JobOutcome> =>
  runJob(sandbox, job, { signal, keepBytes });

const out = (text: string): Frame => ({ frame: "out", data: Buffer.from(text).toString("base64") });

test("a job is written once the sandbox is ready, in bytes", async () => {
  const sandbox = saying({ frame: "ready", python: "3.12" });
  const running = run(sandbox);
  await once(sandbox.input, "readable");
  const written = String(sandbox.input.read());
  const [header = "", body] = written.split("\n");
  sandbox.output.write(`${JSON.stringify(started)}\n${JSON.stringify(ended)}\n`);

  expect(JSON.parse(header)).toMatchObject({
    job: job.id,
    timeoutMs: 1_000,
    withinMs: null,
    packages: null,
    packagesBytes: null,
    scriptBytes: 11,
    inputBytes: 2,
    keepBytes: 100,
  });
  const sent = `${header}\nprint('é')in`;
  expect(`${header}\n${body}`).toBe(sent + createHash("sha256").update(sent).digest("hex"));
  expect(await running).toMatchObject({ exitCode: 0 });
});

describe("packages", () => {
  const packaged: ScriptJob = { ...job, packages: { key: "layer", pinned: [] } };
  const ready: Frame = { frame: "ready", python: "3.12" };
  const layer = (chunks: readonly string[]): PackedLayer => ({
    bytes: chunks.join("").length,
    async *chunks() {
      for (const chunk of chunks) yield Buffer.from(chunk);
    },
  });

  test("are named to a sandbox that sees them, and sent behind the input to one that does not", async () => {
    const sending = { ...saying(ready), packLayer: async (key: string) => layer([key, "'s files"]) };
    const seeing = saying(ready);
    for (const [sandbox, bytes, end] of [
      [sending, 13, "inlayer's files"],
      [seeing, null, "in"],
    ] as const) {
      const running = runJob(sandbox, packaged, { signal: new AbortController().signal, keepBytes: 100 });
      await once(sandbox.input, "readable");
      const [header = "", body = ""] = String(sandbox.input.read()).split("\n");
      sandbox.output.write(`${JSON.stringify(started)}\n${JSON.stringify(ended)}\n`);
      await running;

      expect(JSON.parse(header)).toMatchObject({ packages: "layer", packagesBytes: bytes });
      expect(body.slice(0, -64)).toBe(`print('é')${end}`);
    }
  });

  test("that a sandbox has no room for fail the script, and nothing is written", async () => {
    const tooLarge = new ToolError("too_large", "no room");
    const sandbox = { ...saying(ready), packLayer: () => Promise.reject(tooLarge) };

    await expect(runJob(sandbox, packaged, { signal: new AbortController().signal, keepBytes: 100 })).rejects.toBe(
      tooLarge,
    );
    expect(sandbox.input.read()).toBeNull();
  });

  test("come no faster than they are read, and end with the call", async () => {
    let given = 0;
    const endless: PackedLayer = {
      bytes: Number.MAX_SAFE_INTEGER,
      async *chunks() {
        for (;;) yield Buffer.alloc(++given && 64 * 1024);
      },
    };
    const sandbox = { ...saying(ready), packLayer: async () => endless };
    const giveUp = new AbortController();
    const running = runJob(sandbox, packaged, { signal: giveUp.signal, keepBytes: 100 });
    await once(sandbox.input, "readable");
    await expect.poll(() => sandbox.input.writableNeedDrain).toBe(true);
    const held = given;
    for (let turn = 0; turn < 100; turn++) await setImmediate();
    expect(given).toBe(held);
    giveUp.abort(new Error("given up"));

    await expect(running).rejects.toThrow("given up");
    sandbox.input.resume();
    for (let turn = 0; turn < 100; turn++) await setImmediate();
    expect(given).toBe(held);
  });
});

test("a sandbox that has started another job is left alone", async () => {
  await expect(run(saying({ frame: "started", job: "another" }))).rejects.toMatchObject({
    details: { reason: "sandbox_taken" },
  });
});

test("frames of a kind that is not known are left out", async () => {
  expect(
    await run(saying(started, { frame: "news" } as never, { frame: "constructor" } as never, out("x"), ended)),
  ).toMatchObject({ stdout: "x" });
});

test.each<[string, Buffer]>([
  ["no JSON", Buffer.from("hello\n")],
  ["no object", Buffer.from("3\n")],
  ["no frame", Buffer.from("{}\n")],
  ["a frame without what belongs to it", Buffer.from('{"frame":"ended"}\n')],
  ["a line without end", Buffer.alloc(MAX_FRAME_BYTES + 1, "x")],
  ["bytes that are no text", Buffer.from([0xff, 0x00, 0x0a])],
])("%s from a sandbox fails the script", async (_, bytes) => {
  const outcome = run(saying(started, bytes, ended));

  await expect(outcome).rejects.toMatchObject({ code: "execution_failed", details: { reason: "sandbox_broken" } });
});

test("output is bounded whatever the sandbox says, and no character is cut", async () => {
  const outcome = await run(saying(started, out("éé"), out("éé"), { ...ended, droppedOut: 7 }), { keepBytes: 5 });

  expect(outcome).toMatchObject({ stdout: "éé", droppedBytes: { stdout: 10, stderr: 0 } });
});

test("a sandbox that is gone before its script has ended fails it with its own reason", async () => {
  const sandbox = saying(started, out("x"));
  sandbox.end();

  await expect(run(sandbox)).rejects.toBe(cutOff);
});

test("a sandbox that was ended for its memory is an outcome of the script", async () => {
  const sandbox = saying(started, out("so far"));
  sandbox.end({ isOutOfMemory: true });

  expect(await run(sandbox)).toMatchObject({ stdout: "so far", exitCode: null, limit: "memory" });
});

test("a sandbox that fails by itself is told as that, with its reason", async () => {
  for (const frames of [[], [started]] as const)
    await expect(
      run(saying(...frames, { frame: "failed", reason: "OSError: no room (confine, line 7)" })),
    ).rejects.toMatchObject({
      code: "execution_failed",
      message: expect.stringMatching(/a fault of its sandbox, not its own: OSError: no room \(confine, line 7\)/),
      details: { reason: "sandbox_failed" },
    });
});

test("a script has the time that it was begun with, which may be less than its job's", async () => {
  expect(await run(saying({ ...started, timeoutMs: 700 }, ended))).toMatchObject({ timeoutMs: 700 });
  expect(await run(saying(started, ended))).toMatchObject({ timeoutMs: 1_000 });
});

test("a script whose supervisor does not end it in time is ended from outside, with what it has printed", async () => {
  const sandbox = saying({ ...started, timeoutMs: 1_000 }, out("so far"));

  const outcome = await runJob(sandbox, job, {
    signal: new AbortController().signal,
    keepBytes: 100,
    endBy: performance.now(),
  });

  expect(outcome).toMatchObject({ stdout: "so far", exitCode: null, limit: "time", timeoutMs: 1_000 });
  expect(sandbox.disposals).toBe(1);
});

test("a script that has ended in time is told as that by a process that stood still meanwhile", async () => {
  const lines = [started, ended].map((frame) => `'${JSON.stringify({ ...frame, timeoutMs: 1_000 })}'`);
  const child = spawn("sh", ["-c", `echo ${lines[0]}; read line; echo ${lines[1]}`]);
  const sandbox = { ...saying(), output: child.stdout };
  const running = runJob(sandbox, job, {
    signal: new AbortController().signal,
    keepBytes: 100,
    endBy: performance.now(),
  });
  await once(child.stdout, "readable");
  await setImmediate();
  child.stdin.end("\n");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);

  expect(await running).toMatchObject({ exitCode: 0, limit: null });
});

test("a sandbox that was ended for its memory before it began has run nothing", async () => {
  const sandbox = saying({ frame: "ready", python: "3.12" });
  sandbox.end({ isOutOfMemory: true });

  await expect(run(sandbox)).rejects.toBe(cutOff);
});

test("who gives up is answered at once, and the sandbox is disposed of", async () => {
  const sandbox = saying(started);
  const giveUp = new AbortController();
  const running = run(sandbox, { signal: giveUp.signal });
  giveUp.abort(new Error("given up"));

  await expect(running).rejects.toThrow("given up");
  expect(sandbox.disposals).toBe(1);
});
