import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { findPython } from "../local/find-python.ts";

const python = await findPython({ python: undefined, path: process.env["PATH"] ?? "" });
const config = JSON.stringify({
  memoryBytes: 1,
  processes: 1,
  packagesFolder: "/",
  packagesBytes: 0,
  isMemoryHeld: true,
});

/** What lines of Python print as JSON, which import parts of the supervisor from `program`. */
async function print(...lines: readonly string[]): Promise<unknown> {
  const source = ["import json, sys", `sys.path.insert(0, ${JSON.stringify(import.meta.dirname)})`, ...lines].join(
    "\n",
  );
  const { stdout } = await promisify(execFile)(python?.executable ?? "", ["-B", "-c", source, config]);
  return JSON.parse(stdout);
}

// A machine without Python runs no scripts.
describe.runIf(python !== undefined)("a part of the supervisor", { timeout: 60_000 }, () => {
  test("says any text as JSON in ASCII", async () => {
    const text = 'a "quote", \\, \n, é, 😀, \ud800 and \u0000';
    const said = await print(
      "from program.frames import pending, say",
      `say(frame="x", text=json.loads(${JSON.stringify(JSON.stringify(text))}), none=None, number=3)`,
      "print(json.dumps(pending.decode('ascii')))",
    );

    expect(JSON.parse(String(said))).toEqual({ frame: "x", text, none: null, number: 3 });
  });

  test("reads of a job what it wants, and hashes exactly that", async () => {
    const read = await print(
      "import hashlib, os",
      "from program.job import Incoming",
      "read_end, write_end = os.pipe()",
      "os.dup2(read_end, 0)",
      "os.write(write_end, b'header\\nbody and more')",
      "incoming = Incoming()",
      "taken = [incoming.line().decode(), incoming.take(4).decode()]",
      "print(json.dumps([taken, incoming.digest.hexdigest() == hashlib.sha256(b'header\\nbody').hexdigest()]))",
    );

    expect(read).toEqual([["header\n", "body"], true]);
  });

  test("keeps the beginning and the end of an output, and counts the rest", async () => {
    const [frames, dropped] = (await print(
      "import os",
      "from program.frames import pending",
      "from program.output import Output",
      "output = Output('out', 5, 3)",
      "os.write(output.write_end, b'0123456789')",
      "os.close(output.write_end)",
      "output.drain()",
      "print(json.dumps([[json.loads(line) for line in pending.decode().splitlines()], output.dropped]))",
    )) as [{ frame: string; data: string }[], number];

    const texts = frames.map(({ frame, data }) => [frame, Buffer.from(data, "base64").toString()]);
    expect([texts, dropped]).toEqual([
      [
        ["out", "01234"],
        ["outTail", "789"],
      ],
      2,
    ]);
  });

  test("knows the processes that descend from it", async () => {
    const found = await print(
      "import subprocess",
      "from program.processes import descendants, kill, usage",
      "child = subprocess.Popen(['sleep', '60'])",
      "seen = child.pid in descendants()",
      "used, threads = usage()",
      "kill(child.pid)",
      "print(json.dumps([seen, used > 0, threads, child.wait()]))",
    );

    expect(found).toEqual([true, true, 1, -9]);
  });

  test("takes frames of the manager however they are cut, and refuses what is none", async () => {
    const taken = await print(
      "from program import channel",
      "def fail(reason): raise SystemExit(reason)",
      "channel.fail = fail",
      "def cut(data, size):",
      "    one = channel.Channel('message')",
      "    frames = channel.FrameReader([one])",
      "    try:",
      "        for at in range(0, len(data), size): frames.take(data[at : at + size])",
      "    except BaseException as error: return str(error) or type(error).__name__",
      "    return [piece.decode() for piece in one.waiting]",
      `frames = b'{"frame":"message","bytes":3}\\n.ab{"frame":"message","bytes":1}\\n.'`,
      `faults = [b'x' * 300, b'{"frame":"other"}\\n', b'{"frame":"message","bytes":99999}\\n']`,
      "print(json.dumps([*[cut(frames, size) for size in (1, 7, 1000)], *[cut(fault, 1000) for fault in faults]]))",
    );

    expect(taken).toEqual([
      [".ab", "."],
      [".ab", "."],
      [".ab", "."],
      "a frame of the manager has no header",
      "a frame of the manager is of no known kind",
      "a frame of the manager is too large",
    ]);
  });

  test("filters system calls by their numbers and arguments", async () => {
    const verdicts = await print(
      "from program.system_calls import *",
      "from program.system_calls import system_call_filter",
      "def verdict(program, number, machine, *arguments):",
      "    data = {0: number, 4: machine}",
      "    for index, value in enumerate(arguments): data[16 + 8 * index], data[20 + 8 * index] = value & 0xFFFFFFFF, value >> 32",
      "    at = accumulator = 0",
      "    while True:",
      "        code, yes, no, operand = program[at]",
      "        at += 1",
      "        if code == RETURN: return {ALLOW: 'allow', REFUSE: 'refuse', UNKNOWN: 'unknown', KILL: 'kill'}[operand]",
      "        elif code == LOAD: accumulator = data.get(operand, 0)",
      "        elif code == AND: accumulator &= operand",
      "        elif code == JUMP_EQUAL: at += yes if accumulator == operand else no",
      "        elif code == JUMP_AT_LEAST: at += yes if accumulator >= operand else no",
      "        elif code == JUMP_ANY_BIT: at += yes if accumulator & operand else no",
      "x86 = system_call_filter(0, 0xC000003E)",
      "calls = {'read': (0,), 'ptrace': (101,), 'x32': (0x40000000,), 'clone3': (435,), 'fork': (56, 17), 'user namespace': (56, 0x10000000),",
      "         'tcp': (41, 2, 1), 'packets': (41, 17, 3), 'raw': (41, 2, 3), 'own limit': (302, 0, 7, 1), 'its limit': (302, 1, 7, 1)}",
      "print(json.dumps({**{name: verdict(x86, call[0], 0xC000003E, *call[1:]) for name, call in calls.items()}, 'i386': verdict(x86, 0, 0x40000003)}))",
    );

    expect(verdicts).toEqual({
      read: "allow",
      ptrace: "refuse",
      x32: "unknown",
      clone3: "unknown",
      fork: "allow",
      "user namespace": "refuse",
      tcp: "allow",
      packets: "refuse",
      raw: "refuse",
      "own limit": "allow",
      "its limit": "refuse",
      i386: "kill",
    });
  });
});
