import { hash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { hostname } from "node:os";
import { createSemaphore, within } from "@rockbot/base";
import { AuditFileError, filesAside } from "./audit-file.ts";
import { type ChainHead, type ChainLine, MAX_LINE_BYTES, readLine } from "./chain.ts";
import { type FileLine, linesBefore, linesIn } from "./lines-of.ts";
import { type AuditFault, ChainCheck } from "./verify-audit.ts";

/** The place where a search goes on: at lines of smaller numbers, which end before the offset in their file. */
export interface AuditPlace {
  readonly seq: number;
  readonly at: number;
}

/** A question to a log. A field that is left out narrows nothing. */
export interface AuditSearch {
  /** A part of the name in any case, as are `tool` and `operator`. */
  readonly caller?: string | undefined;
  readonly tool?: string | undefined;
  readonly operator?: string | undefined;
  /** Unix milliseconds, as is `before`. */
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  /** Where to go on, by the id of the log. @default at the newest line */
  readonly from?: Readonly<Record<string, AuditPlace>> | undefined;
}

/** A line, with the offset in its file where it begins. */
export interface FoundLine extends ChainLine {
  readonly at: number;
}

/** The lines that a search has found, the newest first. */
export interface AuditFound {
  /** The id of the log's chain. */
  readonly log: string;
  readonly lines: readonly FoundLine[];
  /** Where the search ended though there may be older lines, with the time of the line there. */
  readonly next?: (AuditPlace & { readonly time: string }) | undefined;
  /** How many lines could not be read on the way. */
  readonly unreadable: number;
}

/** A log, and what a check of its newest lines has found. */
export interface AuditState {
  readonly log: string;
  readonly host: string;
  readonly file: string;
  readonly first?: Pick<ChainLine, "seq" | "time"> | undefined;
  readonly last?: Pick<ChainLine, "seq" | "time" | "hash"> | undefined;
  /** The numbers of the first and the last line that were checked; undefined if none could be. */
  readonly checked?: { readonly from: number; readonly to: number } | undefined;
  readonly faults: readonly Pick<AuditFault, "after" | "message" | "unreadable">[];
  readonly furtherFaults: number;
}

/** Lines in one answer. */
export const MAX_FOUND = 200;
const MAX_FOUND_BYTES = 1024 * 1024;
/** One search or check reads so much at most, and takes so long. */
const MAX_READ_BYTES = 16 * 1024 * 1024;
const READ_MS = 2_000;
/** A disk that has not answered by then is not waited for. */
const HANG_MS = 4_000;
const MAX_READING = 2;
/** Questions that are answered, or wait for their turn. */
const MAX_ASKED = 8;
const MAX_FAULTS = 20;
/** Clocks may be set back: lines this much out of the order of time are found. */
const SLACK_MS = 10 * 60_000;
/** A search for a time jumps to within so many bytes. */
const JUMP_BYTES = 1024 * 1024;
const ID_DIGITS = 16;

/**
 * Reads a log that this process writes, for operators. Each question reads a bounded part, in chunks between which
 * other work has its turn. The same question of several, such as services of one process, is answered once.
 */
export class AuditReader {
  readonly #path: string;
  readonly #head: () => ChainHead;
  readonly #reading = new Map<string, Promise<unknown>>();
  readonly #turns = createSemaphore(MAX_READING);

  /** @param head the chain's head as this process has written it */
  constructor(path: string, head: () => ChainHead) {
    this.#path = path;
    this.#head = head;
  }

  /** @throws {AuditFileError} if the log cannot be read, or others read it */
  search(search: AuditSearch): Promise<AuditFound> {
    return this.#once(JSON.stringify(search), () => searchFiles(this.#path, search));
  }

  /** @throws {AuditFileError} likewise */
  state(): Promise<AuditState> {
    return this.#once("state", () => stateOf(this.#path, this.#head()));
  }

  async #once<T>(key: string, read: () => Promise<T>): Promise<T> {
    let reading = this.#reading.get(key) as Promise<T> | undefined;
    if (reading === undefined) {
      if (this.#reading.size >= MAX_ASKED)
        throw unreadable(this.#path, "others read it at the same time. Ask again in some seconds");
      reading = this.#inTurn(read).finally(() => this.#reading.delete(key));
      this.#reading.set(key, reading);
    }
    const late = "it did not come to its turn in time, or the disk does not answer. Ask again in some seconds";
    return within(HANG_MS, reading, () => unreadable(this.#path, late)).catch((error) => {
      throw error instanceof AuditFileError ? error : unreadable(this.#path, error.code ?? String(error), error);
    });
  }

  async #inTurn<T>(read: () => Promise<T>): Promise<T> {
    using _ = await this.#turns.acquire();
    return await read();
  }
}

const unreadable = (path: string, why: string, cause?: unknown): AuditFileError =>
  new AuditFileError(`Cannot read the audit file ${path}: ${why}`, { cause });

interface OpenFile {
  readonly name: string;
  /** The number of its last line; infinite for the one that is written. */
  readonly lastSeq: number;
  open(): Promise<FileHandle>;
}

/**
 * The files of the log, the newest first. The one that is written is opened before the others are listed, so that
 * putting it aside meanwhile takes no line out of sight.
 */
async function filesOf(path: string, stack: AsyncDisposableStack): Promise<OpenFile[]> {
  const current = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined; // it has just been put aside
    throw error;
  });
  if (current === undefined) return asideOf(path, undefined, stack);
  stack.use(current);
  const { ino } = await current.stat();
  const isNow = { name: path, lastSeq: Number.POSITIVE_INFINITY, open: async () => current };
  return [isNow, ...(await asideOf(path, ino, stack))];
}

async function asideOf(path: string, ino: number | undefined, stack: AsyncDisposableStack): Promise<OpenFile[]> {
  const aside = (await filesAside(path)).map(({ file, lastSeq }) => ({
    name: file,
    lastSeq,
    open: async () => stack.use(await open(file)),
  }));
  const newest = await aside[0]?.open();
  return newest !== undefined && (await newest.stat()).ino === ino ? aside.slice(1) : aside;
}

async function searchFiles(path: string, search: AuditSearch): Promise<AuditFound> {
  await using stack = new AsyncDisposableStack();
  const files = await filesOf(path, stack);
  const beginning = await firstLine(files.at(-1));
  const log = idOf(beginning);
  const from = search.from !== undefined && Object.hasOwn(search.from, log) ? search.from[log] : undefined;
  const oldestSeq = lineIn(beginning)?.seq ?? 1;
  if (from !== undefined && from.seq <= oldestSeq) return { log, lines: [], unreadable: 0 };
  const start = from === undefined ? 0 : files.findLastIndex(({ lastSeq }) => lastSeq >= from.seq - 1);
  const found = new Finds(search, from);
  for (const [index, file] of files.slice(Math.max(0, start)).entries()) {
    const handle = await file.open();
    const { size } = await handle.stat();
    const end = index === 0 && from !== undefined && from.at > 0 ? Math.min(from.at, size) : size;
    for await (const { bytes, at } of linesBefore(handle, await endFor(handle, end, found.newest))) {
      const isOver = found.take(bytes, at);
      if (isOver === "done") return { log, lines: found.lines, unreadable: found.unreadable };
      if (isOver) return { log, lines: found.lines, next: { ...found.place, at }, unreadable: found.unreadable };
    }
  }
  return { log, lines: found.lines, unreadable: found.unreadable };
}

/** The lines that fit a search, as far as it may go at once. */
class Finds {
  readonly lines: FoundLine[] = [];
  unreadable = 0;
  /** Lines that are newer do not fit. */
  readonly newest: number;
  /** The oldest line that was looked at. */
  place: { readonly seq: number; readonly time: string };
  readonly #search: AuditSearch;
  readonly #below: number;
  readonly #endsAt = performance.now() + READ_MS;
  #seen = 0;
  #foundBytes = 0;

  constructor(search: AuditSearch, from: AuditPlace | undefined) {
    this.#search = search;
    this.newest = (search.before ?? Number.POSITIVE_INFINITY) + SLACK_MS;
    this.#below = from?.seq ?? Number.MAX_SAFE_INTEGER;
    this.place = { seq: this.#below, time: new Date().toISOString() };
  }

  /** @returns true if the search ends before this line for now, `done` if no older one can fit */
  take(bytes: Buffer, at: number): boolean | "done" {
    this.#seen += bytes.length;
    const line = lineIn(bytes);
    if (line === undefined) this.unreadable++;
    else if (line.seq < this.#below) {
      const time = Date.parse(line.time);
      if (time < (this.#search.after ?? Number.NEGATIVE_INFINITY) - SLACK_MS) return "done";
      this.place = { seq: line.seq, time: line.time };
      if (fits(this.#search, line, time)) {
        this.lines.push({ ...line, at });
        this.#foundBytes += bytes.length;
      }
    }
    const isFull = this.lines.length >= MAX_FOUND || this.#foundBytes >= MAX_FOUND_BYTES;
    return at > 0 && (isFull || this.#seen >= MAX_READ_BYTES || performance.now() > this.#endsAt);
  }
}

const fits = ({ after, before, ...names }: AuditSearch, { fields }: ChainLine, time: number): boolean =>
  !(time < (after ?? time) || time >= (before ?? Number.POSITIVE_INFINITY)) &&
  (["caller", "tool", "operator"] as const).every((name) =>
    String(fields[name] ?? "")
      .toLowerCase()
      .includes((names[name] ?? "").toLowerCase()),
  );

/** Where to begin to look backwards for lines that are no newer: at `end`, or before it. */
async function endFor(handle: FileHandle, end: number, newest: number): Promise<number> {
  if (newest === Number.POSITIVE_INFINITY) return end;
  let [low, high] = [0, end];
  while (high - low > JUMP_BYTES) {
    const middle = Math.floor((low + high) / 2);
    const line = await lineAfter(handle, middle);
    if (line === undefined) break;
    if (Date.parse(line.time) > newest) high = middle;
    else low = middle;
  }
  return high;
}

/** The first whole line that begins after the offset. */
async function lineAfter(handle: FileHandle, offset: number): Promise<ChainLine | undefined> {
  const bytes = Buffer.alloc(2 * MAX_LINE_BYTES);
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, offset);
  const start = bytes.indexOf("\n") + 1;
  return lineIn(bytes.subarray(start, Math.max(start, bytes.subarray(0, bytesRead).indexOf("\n", start))));
}

function lineIn(bytes: Buffer): ChainLine | undefined {
  const line = readLine(bytes);
  return typeof line === "string" ? undefined : line;
}

async function firstLine(file: OpenFile | undefined): Promise<Buffer> {
  const bytes = Buffer.alloc(MAX_LINE_BYTES);
  const { bytesRead = 0 } = (await (await file?.open())?.read(bytes, 0, bytes.length, 0)) ?? {};
  const end = bytes.subarray(0, bytesRead).indexOf("\n");
  return bytes.subarray(0, Math.max(0, end));
}

/** Names a chain by its first line that is kept: the same for all who read it, in any file and after any restart. */
const idOf = (line: Buffer): string => (line.length === 0 ? "empty" : hash("sha256", line).slice(0, ID_DIGITS));

async function stateOf(path: string, head: ChainHead): Promise<AuditState> {
  await using stack = new AsyncDisposableStack();
  const files = await filesOf(path, stack);
  const beginning = await firstLine(files.at(-1));
  const parts: Part[] = [];
  let left = MAX_READ_BYTES;
  let last: ChainLine | undefined;
  for (const file of files) {
    if (left <= 0) break;
    const handle = await file.open();
    const { size } = await handle.stat();
    last ??= await lastIn(handle, size);
    parts.unshift({ file, handle, start: Math.max(0, size - left) });
    left -= size;
  }
  const first = lineIn(beginning);
  return {
    log: idOf(beginning),
    host: hostname(),
    file: path,
    first: first && { seq: first.seq, time: first.time },
    last: last && { seq: last.seq, time: last.time, hash: last.hash },
    ...(await checkParts(parts, head)),
  };
}

interface Part {
  readonly file: OpenFile;
  readonly handle: FileHandle;
  /** The offset where the check begins. */
  readonly start: number;
}

/** Follows the chain through the parts. What this process has written has to be in it, or somebody wrote it anew. */
async function checkParts(
  parts: readonly Part[],
  head: ChainHead,
): Promise<Pick<AuditState, "checked" | "faults" | "furtherFaults">> {
  const check = new ChainCheck(head.hash);
  const endsAt = performance.now() + READ_MS;
  let isOver = false;
  async function* inTime(lines: AsyncIterable<FileLine>, isCut: boolean): AsyncGenerator<FileLine> {
    let isPart = isCut; // what it begins with may be the end of a line
    for await (const line of lines) {
      if (!isPart) yield line;
      isPart = false;
      isOver ||= performance.now() > endsAt;
      if (isOver) return;
    }
  }
  for (const { file, handle, start } of parts) {
    if (isOver) break;
    const lines = linesIn(handle.createReadStream({ start, autoClose: false }));
    await check.read(file.name, file.lastSeq === Number.POSITIVE_INFINITY, inTime(lines, start > 0));
  }
  const { files, faults: found, furtherFaults, head: end, hasHead } = check.report();
  const from = files.find(({ lines }) => lines > 0)?.firstSeq;
  if (head.seq === 0 && from === undefined) return { faults: [], furtherFaults: 0 };
  const isAnew = !isOver && hasHead === false;
  const anew = `line ${head.seq} is not there as this process wrote it: the chain was cut off, or written anew`;
  const faults = [...(isAnew ? [{ after: 0, unreadable: 0, message: anew }] : []), ...found];
  return {
    checked: from === undefined ? undefined : { from, to: end.seq },
    faults: faults.slice(0, MAX_FAULTS).map(({ after, message, unreadable }) => ({ after, message, unreadable })),
    furtherFaults: furtherFaults + Math.max(0, faults.length - MAX_FAULTS),
  };
}

/** The last line that can be read, if the newest bytes have one. */
async function lastIn(handle: FileHandle, size: number): Promise<ChainLine | undefined> {
  let looked = 0;
  for await (const { bytes } of linesBefore(handle, size)) {
    const line = lineIn(bytes);
    looked += bytes.length;
    if (line !== undefined || looked > JUMP_BYTES) return line;
  }
  return undefined;
}
