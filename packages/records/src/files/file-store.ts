import { randomBytes } from "node:crypto";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { BlobError, type BlobStore } from "../blobs/index.ts";
import { StoreUnavailableError } from "../store-unavailable-error.ts";
import {
  checkFileName,
  FILE_TTL_MS,
  type FileFacts,
  type FileInfo,
  fileType,
  MAX_FILE_BYTES,
  newHandle,
} from "./file-facts.ts";
import type { FileList, ListedFile } from "./file-list.ts";
import { type PieceId, pieceName, SEAL_BYTES, seal, unseal } from "./sealed-piece.ts";

/** A file lies in pieces of so many bytes, so that nobody holds more of it at once. */
const PIECE_BYTES = 1024 ** 2;
/** The first piece has the facts, filled up to so many bytes. */
const FACTS_BYTES = 1024;

/** A file that is to be kept. */
export interface NewFile {
  readonly name: string;
  /** As its sender says. @default by the name's ending */
  readonly type?: string | undefined;
  readonly isUntrusted: boolean;
  /** Its bytes, in parts of any length. */
  readonly bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  /** @default FILE_TTL_MS */
  readonly ttlMs?: number | undefined;
}

/** A file that can be read. */
export interface OpenFile {
  readonly facts: FileFacts;
  /**
   * Reads from one byte up to, and without, another. @default all
   * @throws {ToolError} while it is read, if the file is gone or the store is away
   */
  read(from?: number, to?: number): AsyncIterable<Buffer>;
}

/** The parts of a store of files. Each is closed by who opened it. */
export interface FileStoreParts {
  readonly pieces: BlobStore;
  readonly list: FileList;
}

/**
 * The files of callers. A handle alone opens nothing: the caller's list has the key. The holder of a file's key reads
 * this one file.
 */
export class FileStore {
  readonly #pieces: BlobStore;
  readonly #list: FileList;

  constructor({ pieces, list }: FileStoreParts) {
    this.#pieces = pieces;
    this.#list = list;
  }

  /**
   * Keeps a file for a caller, all of it or nothing.
   * @throws {ToolError} `invalid_arguments` for a bad name, `too_large` if it is, or its caller has no room,
   * `unavailable`; and whatever `bytes` throws
   */
  async put(owner: string, file: NewFile): Promise<FileInfo> {
    const name = checkFileName(file.name);
    const { isUntrusted, ttlMs = FILE_TTL_MS } = file;
    const shown = isUntrusted ? "the file" : `"${name}"`; // an error has no mark
    const at = { owner, handle: newHandle(), key: randomBytes(32).toString("hex") };
    const expiresAt = Date.now() + ttlMs;
    let index = 0;
    let size = 0;
    const leave = (piece: Uint8Array, into: number): Promise<void> => {
      const id = { ...at, index: into };
      return this.#pieces.put(pieceName(id), seal(piece, id), { owner, ttlMs });
    };
    try {
      for await (const piece of piecesOf(file.bytes)) {
        size += piece.byteLength;
        if (size > MAX_FILE_BYTES) throw tooLarge(shown);
        index += 1;
        await leave(piece, index);
      }
      const facts: FileFacts = { name, type: fileType(name, file.type), size, isUntrusted };
      await leave(Buffer.from(JSON.stringify(facts).padEnd(FACTS_BYTES)).subarray(0, FACTS_BYTES), 0);
      await this.#list.add(owner, { ...facts, handle: at.handle, key: at.key, expiresAt });
      return { ...facts, handle: at.handle, expiresAt };
    } catch (error) {
      for (let i = index; i >= 0; i--) await this.#pieces.delete(pieceName({ ...at, index: i })).catch(() => {}); // they expire
      throw asToolError(error, `keep ${shown}`);
    }
  }

  /** The files of a caller, the newest first. @throws {ToolError} `unavailable` */
  async list(owner: string): Promise<readonly FileInfo[]> {
    const files = await this.#list.list(owner).catch(rethrown("list the files"));
    return files.map(({ key: _, ...info }) => info);
  }

  /** A file of a caller with its key, for those who call on its behalf. @throws {ToolError} `unavailable` */
  async find(owner: string, handle: string): Promise<ListedFile | undefined> {
    return this.#list.find(owner, handle).catch(rethrown(`find ${handle}`));
  }

  /**
   * Opens a file by its key.
   * @throws {ToolError} `invalid_arguments` if this caller has no such file, `unavailable`
   */
  async open(id: Omit<PieceId, "index">): Promise<OpenFile> {
    const what = `read ${id.handle}`;
    const first = { ...id, index: 0 };
    const opened = await this.#pieces
      .get(pieceName(first), FACTS_BYTES + SEAL_BYTES)
      .then((sealed) => unseal(sealed, first))
      .catch(rethrown(what));
    const facts = JSON.parse(opened.toString()) as FileFacts;
    return { facts, read: (from, to) => this.#read(id, facts.size, from, to) };
  }

  /** @returns whether the caller had it @throws {ToolError} `unavailable` */
  async delete(owner: string, handle: string): Promise<boolean> {
    const file = await this.find(owner, handle);
    if (file === undefined) return false;
    const pieces = Math.ceil(file.size / PIECE_BYTES);
    try {
      for (let index = 0; index <= pieces; index++)
        await this.#pieces.delete(pieceName({ owner, handle, key: file.key, index }));
      await this.#list.remove(owner, handle);
    } catch (error) {
      throw asToolError(error, `delete ${handle}`);
    }
    return true;
  }

  async *#read(id: Omit<PieceId, "index">, size: number, from = 0, to = size): AsyncIterable<Buffer> {
    const end = Math.min(to, size);
    for (let start = Math.max(0, from); start < end; ) {
      const index = Math.floor(start / PIECE_BYTES);
      const piece = { ...id, index: index + 1 };
      const length = Math.min(PIECE_BYTES, size - index * PIECE_BYTES);
      const bytes = await this.#pieces
        .get(pieceName(piece), length + SEAL_BYTES)
        .then((sealed) => unseal(sealed, piece))
        .catch(rethrown(`read ${id.handle}`));
      const within = bytes.subarray(start - index * PIECE_BYTES, Math.min(bytes.length, end - index * PIECE_BYTES));
      yield within;
      start += within.length;
    }
  }
}

/** The same bytes in pieces of PIECE_BYTES; the last may have fewer. */
async function* piecesOf(parts: NewFile["bytes"]): AsyncIterable<Buffer> {
  let held: Buffer[] = [];
  let length = 0;
  for await (const part of parts) {
    for (let at = 0; at < part.byteLength; ) {
      const taken = Buffer.from(part.subarray(at, at + PIECE_BYTES - length));
      held.push(taken);
      length += taken.length;
      at += taken.length;
      if (length < PIECE_BYTES) continue;
      yield Buffer.concat(held);
      held = [];
      length = 0;
    }
  }
  if (length > 0) yield Buffer.concat(held);
}

/** The error for a handle that means nothing to a caller: it says the same of one that never was, and of another's. */
export const noSuchFile = (handle: string): ToolError =>
  new ToolError(
    ToolErrorCode.InvalidArguments,
    `Cannot use ${JSON.stringify(handle.slice(0, 80))}: this caller has no file of that handle. It may have expired. Use a handle of its own files`,
    { details: { reason: "no_such_file" } },
  );

const tooLarge = (shown: string): ToolError =>
  new ToolError(
    ToolErrorCode.TooLarge,
    `Cannot keep ${shown}: it has more than ${MAX_FILE_BYTES} bytes. Keep less in one file`,
    { details: { reason: "file_too_large" } },
  );

const rethrown =
  (what: string) =>
  (error: unknown): never => {
    throw asToolError(error, what);
  };

function asToolError(error: unknown, what: string): unknown {
  if (error instanceof StoreUnavailableError)
    return new ToolError(ToolErrorCode.Unavailable, `Cannot ${what}: the store of files does not answer. Try again`, {
      cause: error,
    });
  if (!(error instanceof BlobError)) return error;
  if (error.code === "full" || error.code === "too_large")
    return new ToolError(
      ToolErrorCode.TooLarge,
      `Cannot ${what}: there is no room for it among the files of this caller. Files are kept for 24 hours`,
      { cause: error, details: { reason: "file_room" } },
    );
  const words = error.code === "missing" ? "it is not there any more. It has expired or was deleted" : "it is damaged";
  return new ToolError(ToolErrorCode.InvalidArguments, `Cannot ${what}: ${words}`, {
    cause: error,
    details: { reason: "no_such_file" },
  });
}
