import { type FileHandle, open, readdir, rename, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CHAIN_START, type ChainHead, MAX_LINE_BYTES, readLine } from "./chain.ts";

/** The file cannot be taken up. The message is for the operator. */
export class AuditFileError extends Error {
  override readonly name = "AuditFileError";
}

/** A file that lines are appended to, and where its chain stands. */
export interface AuditFile {
  readonly handle: FileHandle;
  readonly size: number;
  readonly head: ChainHead;
  /** The bytes of a last line that was cut off by a crash. They are gone from the file. */
  readonly droppedBytes: number;
}

/** Only its owner may read who did what. */
const MODE = 0o600;
const SEQ_DIGITS = 12;

/**
 * Opens the file, or makes it. Its chain goes on; that of a new file where the last one that was put aside has ended.
 * @throws {AuditFileError} if the last line is not a whole one: to go on after it would hide that
 */
export async function openAuditFile(path: string): Promise<AuditFile> {
  const handle = await open(path, "a+", MODE).catch((error: NodeJS.ErrnoException) => {
    throw new AuditFileError(`Cannot open the audit file ${path}: ${error.code ?? error.message}`, { cause: error });
  });
  try {
    const { size } = await handle.stat();
    const { head, end } = await lastLine(path, handle, size);
    if (end < size) await handle.truncate(end);
    return { handle, size: end, head: end === 0 ? await lastHeadAside(path) : head, droppedBytes: size - end };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Puts the file aside under the number of its last line, so that a list by name is a list by time. */
export async function putAside(path: string, { seq }: ChainHead): Promise<void> {
  const aside = `${path}.${String(seq).padStart(SEQ_DIGITS, "0")}`;
  const taken = await stat(aside).catch(() => undefined);
  if (taken !== undefined) throw new AuditFileError(`Cannot put the audit file aside: ${aside} is there already`);
  await rename(path, aside);
}

/** The last complete line, and where it ends. What follows was cut off while it was written. */
async function lastLine(path: string, handle: FileHandle, size: number): Promise<{ readonly head: ChainHead; readonly end: number }> {
  const length = Math.min(size, 2 * MAX_LINE_BYTES);
  const tail = Buffer.alloc(length);
  await handle.read(tail, 0, length, size - length);
  const end = tail.lastIndexOf("\n");
  if (end < 0) {
    if (size > MAX_LINE_BYTES) throw new AuditFileError(`Cannot go on with the audit file ${path}: it has no lines. Move it away`);
    return { head: CHAIN_START, end: 0 };
  }
  const start = end === 0 ? 0 : tail.lastIndexOf("\n", end - 1) + 1;
  const line = readLine(tail.toString("utf8", start, end));
  if (typeof line === "string") {
    throw new AuditFileError(
      `Cannot go on with the audit file ${path}: of its last line, ${line}. Look into it with "rockbot audit verify", then move it away`,
    );
  }
  return { head: { seq: line.seq, hash: line.hash }, end: size - length + end + 1 };
}

/** Where the chain of the files that were put aside has ended. */
async function lastHeadAside(path: string): Promise<ChainHead> {
  const folder = dirname(path);
  const prefix = `${basename(path)}.`;
  const names = (await readdir(folder)).filter((name) => name.startsWith(prefix) && /^\d{12,}$/.test(name.slice(prefix.length)));
  const newest = names.sort((a, b) => Number(a.slice(prefix.length)) - Number(b.slice(prefix.length))).at(-1);
  if (newest === undefined) return CHAIN_START;
  const aside = join(folder, newest);
  await using handle = await open(aside, "r");
  const { size } = await handle.stat();
  return (await lastLine(aside, handle, size)).head;
}
