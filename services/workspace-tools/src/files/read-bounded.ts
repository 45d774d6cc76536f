import type { FileHandle } from "node:fs/promises";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { shown } from "./workspace-path.ts";

/** Reads all of a file, and closes it. @throws {ToolError} `too_large`, also if it grows beyond the bound meanwhile */
export async function readBounded(opened: FileHandle, maxBytes: number, path: string): Promise<Buffer> {
  try {
    const { size } = await opened.stat();
    if (size > maxBytes) throw tooLarge(path, size, maxBytes);
    const bytes = Buffer.allocUnsafe(Math.min(size, maxBytes) + 1); // one more shows that it has grown
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await opened.read(bytes, length, bytes.length - length, null);
      if (bytesRead === 0) return bytes.subarray(0, length);
      length += bytesRead;
    }
    throw new ToolError(
      ToolErrorCode.ExecutionFailed,
      `Cannot read ${shown(path)}: it grows while it is read. Try again.`,
    );
  } finally {
    await opened.close();
  }
}

const tooLarge = (path: string, bytes: number, maxBytes: number): ToolError =>
  new ToolError(
    ToolErrorCode.TooLarge,
    `Cannot read ${shown(path)}: it has ${bytes} bytes, and at most ${maxBytes} are read. Search it with search_files, or take parts of it with bash.`,
  );
