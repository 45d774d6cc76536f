import type { Readable } from "node:stream";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { type Frame, MAX_FRAME_BYTES } from "./frames.ts";

const LINE_FEED = 10;

/**
 * The frames of a sandbox, one by one. Kinds of frames that are not known are left out.
 * @throws {ToolError} `execution_failed`, if what comes is no frame: nobody but the supervisor should be able to write
 * there
 */
export async function* readFrames(output: Readable): AsyncGenerator<Frame> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of output) {
    rest = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    let start = 0;
    for (let end = rest.indexOf(LINE_FEED); end !== -1; end = rest.indexOf(LINE_FEED, start)) {
      const frame = parseFrame(rest.subarray(start, end));
      if (frame !== undefined) yield frame;
      start = end + 1;
    }
    rest = rest.subarray(start);
    if (rest.length > MAX_FRAME_BYTES) throw malformed();
  }
}

function parseFrame(line: Buffer): Frame | undefined {
  if (line.length > MAX_FRAME_BYTES) throw malformed();
  let value: unknown;
  try {
    value = JSON.parse(line.toString());
  } catch {
    throw malformed();
  }
  if (typeof value !== "object" || value === null || !("frame" in value)) throw malformed();
  const check = checks[value.frame as Frame["frame"]];
  if (check === undefined) return undefined;
  if (!check(value as Record<string, unknown>)) throw malformed();
  return value as Frame;
}

const isText = (value: unknown): boolean => typeof value === "string";
const isCount = (value: unknown): boolean => typeof value === "number" && value >= 0;
const isCountOrNull = (value: unknown): boolean => value === null || isCount(value);
const limits: ReadonlySet<unknown> = new Set([null, "time", "memory", "processes"]);

const checks: Readonly<Record<string, ((frame: Record<string, unknown>) => boolean) | undefined>> = {
  __proto__: null as never,
  ready: ({ python, protocol }) => isText(python) && (protocol === undefined || isCount(protocol)),
  started: ({ job, timeoutMs }) => isText(job) && (timeoutMs === undefined || isCount(timeoutMs)),
  out: ({ data }) => isText(data),
  err: ({ data }) => isText(data),
  now: ({ data }) => isText(data),
  message: ({ data }) => isText(data),
  cell: ({ data }) => isText(data),
  printed: ({ droppedOut, droppedErr }) => isCount(droppedOut) && isCount(droppedErr),
  file: ({ name, bytes }) => isText(name) && isCount(bytes),
  fileData: ({ data }) => isText(data),
  shown: ({ data }) => isText(data),
  outTail: ({ data }) => isText(data),
  errTail: ({ data }) => isText(data),
  ended: ({ exitCode, signal, limit, droppedOut, droppedErr, runMs, strangers = 0, passedFiles = 0 }) =>
    isCountOrNull(exitCode) &&
    isCountOrNull(signal) &&
    limits.has(limit) &&
    isCount(droppedOut) &&
    isCount(droppedErr) &&
    isCount(runMs) &&
    isCount(strangers) &&
    isCount(passedFiles),
  failed: ({ reason }) => isText(reason),
};

function malformed(): ToolError {
  return new ToolError(ToolErrorCode.ExecutionFailed, "The script was cut off: its sandbox sent a malformed frame", {
    details: { reason: "sandbox_broken" },
  });
}
