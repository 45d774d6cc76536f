import { text } from "node:stream/consumers";
import type { Sandbox } from "../sandbox.ts";

/**
 * What runs in the sandboxes of these tests instead of the supervisor: says that it is ready, runs the one script that
 * comes on stdin, and ends.
 */
const PROGRAM = `
import json, sys
print('{"frame":"ready","python":"3"}', flush=True)
line = sys.stdin.readline()
if line: exec(json.loads(line), {"__name__": "__main__"})
`;

export const TEST_COMMAND = ["python3", "-I", "-u", "-c", PROGRAM];

export const IMAGE = process.env["ROCKBOT_TEST_PYTHON_IMAGE"] ?? "python:3.12-slim";
export const LIMITS = {
  memoryBytes: 64 * 1024 * 1024,
  processors: 0.5,
  processes: 32,
  storageBytes: 4 * 1024 * 1024,
  storageFiles: 2_000,
};

/** Has the test program run a script. @returns what it wrote to stdout, after the frame `ready` */
export async function runIn(sandbox: Sandbox, script: string): Promise<string> {
  sandbox.input.write(`${JSON.stringify(script)}\n`);
  const written = await text(sandbox.output);
  return written.slice(written.indexOf("\n") + 1);
}
