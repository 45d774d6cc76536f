import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";

/**
 * A layer as it is sent to a sandbox that does not see the manager's: each file as a line of JSON,
 * `{"path":TEXT,"bytes":N,"executable":BOOLEAN}`, and its bytes. A layer holds files and, by their paths, folders; a
 * link does not fit into one.
 */
export interface PackedLayer {
  /** The bytes of all `chunks` together. */
  readonly bytes: number;
  /** @throws {ToolError} `unavailable`, if the layer cannot be read any more */
  chunks(): AsyncIterable<Buffer>;
}

export interface PackLayerOptions {
  /** What the place for it holds, as a disk counts. */
  readonly maxBytes: number;
}

interface LayerFile {
  readonly path: string;
  readonly bytes: number;
  readonly executable: boolean;
}

/** What disks give files in. */
const BLOCK_BYTES = 4_096;
const MIB = 1024 * 1024;

/** @throws {ToolError} `too_large`, if there is no room for it; `unavailable`, if it cannot be read */
export async function packLayer(folder: string, { maxBytes }: PackLayerOptions): Promise<PackedLayer> {
  const { files, diskBytes } = await lookInto(folder).catch(unreadable);
  if (diskBytes > maxBytes) throw tooLarge(diskBytes, maxBytes);
  const heads = files.map((file) => Buffer.from(`${JSON.stringify(file)}\n`));
  return {
    bytes: files.reduce((sum, { bytes }, index) => sum + bytes + (heads[index]?.length ?? 0), 0),
    async *chunks() {
      for (const [index, file] of files.entries()) {
        yield heads[index] as Buffer;
        yield* bytesOf(folder, file);
      }
    },
  };
}

async function lookInto(folder: string): Promise<{ readonly files: readonly LayerFile[]; readonly diskBytes: number }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async ({ parentPath, name }) => {
        const path = join(parentPath, name);
        const { size, mode } = await stat(path);
        return { path: relative(folder, path).replaceAll(sep, "/"), bytes: size, executable: (mode & 0o100) !== 0 };
      }),
  );
  const blocks = files.reduce(
    (sum, { bytes }) => sum + Math.ceil(bytes / BLOCK_BYTES),
    1 + entries.length - files.length,
  );
  return { files, diskBytes: blocks * BLOCK_BYTES };
}

async function* bytesOf(folder: string, { path, bytes }: LayerFile): AsyncGenerator<Buffer> {
  let left = bytes;
  try {
    for await (const chunk of createReadStream(join(folder, path))) {
      left -= (chunk as Buffer).length;
      yield chunk as Buffer;
    }
  } catch (error) {
    unreadable(error);
  }
  if (left !== 0) unreadable(new Error(`${path} is not as long as it was`));
}

function unreadable(cause: unknown): never {
  throw new ToolError(
    ToolErrorCode.Unavailable,
    "The script was not run: what was installed for it cannot be read any more. Try again",
    {
      cause,
      details: { reason: "packages_lost" },
    },
  );
}

const tooLarge = (bytes: number, maxBytes: number): ToolError =>
  new ToolError(
    ToolErrorCode.TooLarge,
    `The script was not run: its packages take ${Math.ceil(bytes / MIB)} MiB, and a sandbox has room for ${Math.floor(maxBytes / MIB)} MiB. Take fewer or smaller ones`,
    { details: { reason: "packages_too_large" } },
  );
