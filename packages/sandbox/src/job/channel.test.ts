import { silentLogger } from "@rockbot/bus";
import { ToolError } from "@rockbot/contracts";
import { describe, expect, test } from "vitest";
import { findPython } from "../local/find-python.ts";
import { openLocalMaker } from "../local/local-maker.ts";
import type { ScriptMessages } from "../script-runner.ts";
import { type JobOutcome, runJob } from "./run-job.ts";

const python = await findPython({ python: undefined, path: process.env["PATH"] ?? "" });

/** Sends and receives whole messages. */
const MODULE = `
def send(message):
    for at in range(0, len(message) or 1, 7_000):
        channel.send((b"+" if at + 7_000 < len(message) else b".") + message[at : at + 7_000])

def receive():
    message = bytearray()
    while True:
        piece = channel.recv(40_000)
        message += piece[1:]
        if piece[:1] == b".": return bytes(message)
`;

async function run(script: string, onMessage: ScriptMessages["onMessage"]): Promise<JobOutcome> {
  await using maker = await openLocalMaker({ log: silentLogger, isUnsafe: true });
  const signal = AbortSignal.timeout(60_000);
  await using sandbox = await maker.make({ signal });
  const job = { id: "0".repeat(32), script, timeoutMs: 30_000, messages: { module: MODULE, onMessage } };
  return await runJob(sandbox, job, { signal, keepBytes: 1_000 });
}

describe.runIf(python !== undefined)("messages of a script", { timeout: 60_000 }, () => {
  test("are answered while it runs, whatever their size", async () => {
    const script = `
import rockbot
for size in (0, 1, 7_000, 7_001, 900_000):
    rockbot.send(b"x" * size)
    print(len(rockbot.receive()))
`;
    const outcome = await run(script, (message, { send }) => void send(Buffer.concat([message, message, message])));

    expect(outcome).toMatchObject({ stdout: "0\n3\n21000\n21003\n2700000\n", exitCode: 0, strangers: 0 });
  });

  test("wait in the sandbox when nobody reads the answers, and the script can still be ended", async () => {
    const script = `
import rockbot, time
for _ in range(100): rockbot.send(b"more")
time.sleep(1)
print(len(rockbot.receive()))
`;
    const outcome = await run(script, (_, { send }) => void send(Buffer.alloc(100_000)));

    expect(outcome).toMatchObject({ stdout: "100000\n", exitCode: 0 });
  });

  test("are not taken from a process that it has started", async () => {
    const script = `
import os, rockbot
if os.fork() == 0:
    rockbot.send(b"forged")
    os._exit(0)
os.wait()
rockbot.send(b"own")
print(rockbot.receive().decode())
`;
    const heard: string[] = [];
    const outcome = await run(script, (message, { send }) => {
      heard.push(message.toString());
      void send(message);
    });

    expect([heard, outcome.stdout, outcome.strangers]).toEqual([["own"], "own\n", 1]);
  });

  test.each([
    ["of more bytes than may be", "for _ in range(200): rockbot.channel.send(b'+' + b'x' * 7_000)", /1048576 bytes/],
    ["without a mark", "rockbot.channel.send(b'forged')", /without a mark/],
  ])("%s end it", async (_, lines, words) => {
    const running = run(`import rockbot, time\n${lines}\ntime.sleep(30)`, () => {});

    await expect(running).rejects.toThrow(words);
  });

  test("end it where their taker says so, however many have come by then", async () => {
    let heard = 0;
    const running = run("import rockbot\nwhile True: rockbot.send(b'flood')", () => {
      if (++heard === 1_000) throw new ToolError("execution_failed", "enough");
    });

    await expect(running).rejects.toThrow("enough");
    expect(heard).toBe(1_000);
  });

  test("cannot be sent by a script that has no channel", async () => {
    await using maker = await openLocalMaker({ log: silentLogger, isUnsafe: true });
    const signal = AbortSignal.timeout(60_000);
    await using sandbox = await maker.make({ signal });
    const job = { id: "0".repeat(32), script: "import rockbot", timeoutMs: 30_000 };

    expect((await runJob(sandbox, job, { signal, keepBytes: 1_000 })).stderr).toContain("No module named 'rockbot'");
  });
});
