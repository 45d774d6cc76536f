import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ToolError } from "@rockbot/contracts";
import type { FilePiece } from "./installer/installer-frames.ts";

export interface LayerBounds {
  readonly maxBytes: number;
  readonly maxFiles: number;
}

/** Writes what an installer sends below one folder. Disposal closes what is open. */
export interface LayerWriter extends AsyncDisposable {
  /** @throws {ToolError} `too_large`; {Error} for a path that leads elsewhere, or a file that is there already */
  write(piece: FilePiece): Promise<void>;
  readonly bytes: number;
}

const LONGEST_PATH = 1_000;

/** The folder is there, empty, and written by nobody else. */
export function createLayerWriter(folder: string, { maxBytes, maxFiles }: LayerBounds): LayerWriter {
  let bytes = 0;
  let files = 0;
  let current: { readonly path: string; readonly handle: FileHandle } | undefined;

  async function begin({ path, executable }: FilePiece): Promise<FileHandle> {
    if (++files > maxFiles) throw tooLarge(`more than ${maxFiles} files`);
    if (!leadsBelow(path)) throw new Error("A file of the packages has a path that leads elsewhere");
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true, mode: 0o755 });
    return await open(file, "wx", executable ? 0o755 : 0o644);
  }

  return {
    get bytes() {
      return bytes;
    },
    async write(piece) {
      const data = Buffer.from(piece.data, "base64");
      bytes += data.length;
      if (bytes > maxBytes) throw tooLarge(`more than ${Math.floor(maxBytes / 1024 / 1024)} MiB`);
      if (current !== undefined && current.path !== piece.path) throw new Error("A file of the packages has no end");
      current ??= { path: piece.path, handle: await begin(piece) };
      await current.handle.writeFile(data);
      if (!piece.last) return;
      await current.handle.close();
      current = undefined;
    },
    async [Symbol.asyncDispose]() {
      await current?.handle.close();
      current = undefined;
    },
  };
}

const leadsBelow = (path: string): boolean =>
  path.length <= LONGEST_PATH &&
  !path.includes("\0") &&
  path.split("/").every((part) => part !== "" && part !== "." && part !== "..");

function tooLarge(what: string): ToolError {
  return new ToolError(
    "too_large",
    `Cannot install the packages: they are ${what}, all that they need included. Take fewer or smaller ones`,
    {
      details: { reason: "packages_too_large" },
    },
  );
}
