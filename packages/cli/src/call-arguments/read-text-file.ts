import { constants, type FileHandle, open } from "node:fs/promises";
import { pause } from "@rockbot/base";
import { MAX_REQUEST_BYTES } from "@rockbot/contracts";

/** A pipe that nobody fills has so long. */
const WAIT_MS = 10_000;
const POLL_MS = 10;

/**
 * The text of a file, or what is wrong with it, to stand behind its name. Reads at most one byte more than arguments
 * may have, also of a device that never ends. A pipe, such as `<(command)`, is read to its end and waited for.
 */
export async function readTextFile(
  path: string,
  waitMs = WAIT_MS,
): Promise<{ readonly text: string } | { readonly fault: string }> {
  try {
    // Without O_NONBLOCK a pipe that has no writer would block a thread for good.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const bytes = await readBytes(file, (await file.stat()).isFIFO(), waitMs);
    if (bytes === undefined) return { fault: `does not end within ${waitMs} ms` };
    if (bytes.length > MAX_REQUEST_BYTES) return { fault: `is larger than ${MAX_REQUEST_BYTES} bytes` };
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    return { fault: code === "ERR_ENCODING_INVALID_ENCODED_DATA" ? "is not UTF-8 text" : `cannot be read (${code})` };
  }
}

async function readBytes(file: FileHandle, isPipe: boolean, waitMs: number): Promise<Buffer | undefined> {
  const buffer = Buffer.alloc(MAX_REQUEST_BYTES + 1);
  const deadline = performance.now() + waitMs;
  let length = 0;
  while (length < buffer.length) {
    const read = await readSome(file, buffer, length);
    if (read === 0 && !(isPipe && length === 0)) break; // a pipe whose writer has not come yet looks as if it had ended
    length += read ?? 0;
    if (performance.now() >= deadline) return undefined;
    if (!read) await pause(POLL_MS);
  }
  return buffer.subarray(0, length);
}

/** @returns how many bytes came; undefined if there are none yet, and more may come */
async function readSome(file: FileHandle, buffer: Buffer, from: number): Promise<number | undefined> {
  try {
    return (await file.read(buffer, from, buffer.length - from, null)).bytesRead;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return undefined;
    throw error;
  }
}
