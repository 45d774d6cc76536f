import { type FileHandle, open, readdir, rename, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CHAIN_START, type ChainHead, MAX_LINE_BYTES, readLine } from "./chain.ts";
import { linesOf } from "./lines-of.ts";

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
  /** The file that had the name before. It did not end in a line of such a log, so this one is new. */
  readonly setAside?: { readonly file: string; readonly reason: string } | undefined;
}

/** Only its owner may read who did what. */
const MODE = 0o600;
const SEQ_DIGITS = 12;

/** Names that are tried for a file to put aside. */
const MAX_NAMES = 1_000;

/**
 * Opens the file, or makes it. Its chain goes on; that of a new file where the last one that was put aside has ended. A
 * file that does not end in a line of such a log is put aside, too. To go on after that line would hide it, and to stop
 * would leave the calls to come without a log.
 * @throws {AuditFileError} if there can be no file at this path
 */
export async function openAuditFile(path: string): Promise<AuditFile> {
  try {
    return await takeUp(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new AuditFileError(`Cannot open the audit file ${path}: ${code ?? message}`, { cause: error });
  }
}

async function takeUp(path: string): Promise<AuditFile> {
  await using stack = new AsyncDisposableStack();
  const handle = stack.use(await open(path, "a+", MODE));
  const { size } = await handle.stat();
  const last = await lastLine(handle, size);
  if (last.fault !== undefined) {
    const { seq } = (await lastReadable(path)) ?? (await lastHeadAside(path));
    const file = await putAside(path, seq);
    return { ...(await takeUp(path)), setAside: { file, reason: last.fault } };
  }
  if (last.end < size) await handle.truncate(last.end);
  const head = last.head ?? (await lastHeadAside(path));
  stack.move();
  return { handle, size: last.end, head, droppedBytes: size - last.end };
}

/**
 * Puts the file aside under the number of its last line, so that a list by name is a list by time.
 * @returns its path
 */
export async function putAside(path: string, seq: number): Promise<string> {
  const numbered = `${path}.${String(seq).padStart(SEQ_DIGITS, "0")}`;
  for (let copy = 1; copy <= MAX_NAMES; copy++) {
    const aside = copy === 1 ? numbered : `${numbered}.${copy}`;
    if ((await stat(aside).catch(() => undefined)) !== undefined) continue;
    await rename(path, aside);
    return aside;
  }
  throw new AuditFileError(
    `Cannot put the audit file aside: ${numbered} and ${MAX_NAMES - 1} more of its names are taken. Move these files away`,
  );
}

interface LastLine {
  /** Undefined if there is no line. */
  readonly head?: ChainHead | undefined;
  /** Where it ends. The rest was cut off while it was written. */
  readonly end: number;
  /** Why what stands there is no line of such a log, in words. */
  readonly fault?: string | undefined;
}

/** The last complete line. */
async function lastLine(handle: FileHandle, size: number): Promise<LastLine> {
  const length = Math.min(size, 2 * MAX_LINE_BYTES);
  const tail = Buffer.alloc(length);
  await handle.read(tail, 0, length, size - length);
  const end = tail.lastIndexOf("\n");
  if (length - end > MAX_LINE_BYTES) return { end: size, fault: "it has no end within the length of a line" };
  if (end < 0) return { end: 0 };
  const start = end === 0 ? 0 : tail.lastIndexOf("\n", end - 1) + 1;
  const line = readLine(tail.subarray(start, end));
  const at = size - length + end + 1;
  return typeof line === "string" ? { end: at, fault: line } : { end: at, head: headOf(line) };
}

/** Where the chain stands in a file: at its last line that can be read. */
async function lastReadable(path: string): Promise<ChainHead | undefined> {
  await using handle = await open(path, "r");
  const { head, fault } = await lastLine(handle, (await handle.stat()).size);
  if (fault === undefined) return head;
  let last: ChainHead | undefined;
  for await (const { bytes, isComplete } of linesOf(path)) {
    const line = readLine(bytes);
    if (isComplete && typeof line !== "string") last = headOf(line);
  }
  return last;
}

/** Where the chain of the files that were put aside has ended. */
async function lastHeadAside(path: string): Promise<ChainHead> {
  for (const { file } of await filesAside(path)) {
    const head = await lastReadable(file);
    if (head !== undefined) return head;
  }
  return CHAIN_START;
}

/** The files of the log that were put aside, the newest first, each with the number of its last line. */
export async function filesAside(path: string): Promise<{ readonly file: string; readonly lastSeq: number }[]> {
  const prefix = `${basename(path)}.`;
  const aside = (await readdir(dirname(path))).flatMap((name) => {
    const match = name.startsWith(prefix) ? /^(\d{12,})(?:[.](\d+))?$/.exec(name.slice(prefix.length)) : null;
    return match === null ? [] : [{ name, seq: Number(match[1]), copy: Number(match[2] ?? 1) }];
  });
  return aside
    .sort((a, b) => b.seq - a.seq || b.copy - a.copy)
    .map(({ name, seq: lastSeq }) => ({ file: join(dirname(path), name), lastSeq }));
}

const headOf = ({ seq, hash }: ChainHead): ChainHead => ({ seq, hash });
