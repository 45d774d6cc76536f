import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { metrics } from "@opentelemetry/api";
import { Deadlines, ProblemCode, pause, watchProblem, within } from "@rockbot/base";
import { redact, registerSecret } from "@rockbot/base/redaction";
import { type Logger, silentLogger } from "@rockbot/bus";
import { type AuditFile, AuditFileError, openAuditFile, putAside } from "./audit-file.ts";
import { type AuditKey, createAuditKey, keyFileOf, secretBeside } from "./audit-key.ts";
import { AuditReader } from "./audit-reader.ts";
import type { AuditLine, AuditLog } from "./audit-record.ts";
import { type ChainHead, nextLine } from "./chain.ts";

/** The key and the bounds of an audit log. */
export interface OpenAuditLogOptions {
  /**
   * The key that arguments are hashed with. Logs that share it can be compared.
   * @default one of the log's own, kept beside it: see keyFileOf
   */
  readonly key?: string | undefined;
  /** A file that has grown so large is put aside as `{file}.{number of its last line}`. @default 64 MiB */
  readonly maxBytes?: number | undefined;
  readonly log?: Logger | undefined;
}

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;
/** Characters of a text in a record. A longer text is cut: a line must stay one that can be read. */
const MAX_TEXT = 256;
/** Characters in which secrets are looked for: a secret of this length is found even if the cut goes through it. */
const MAX_LOOKED_AT = 8_192;
/** Lines that wait for the disk. Beyond them records are lost, and counted. */
const MAX_WAITING = 10_000;
const MAX_BATCH = 1_000;
/**
 * At least so long lies between the starts of two writes: one costs some 30 µs of processor time, however few lines it
 * has.
 */
const GATHER_MS = 2;
/** How long a call waits for its line. A disk that hangs holds up each call so long. */
const WRITE_MS = 1_000;
/** How soon what could not be written is tried again, and how often the file is looked at and brought to the disk. */
const LOOK_MS = 1_000;
const CLOSE_MS = 5_000;
/** The time between two lines in the log about the same trouble. */
const QUIET_MS = 60_000;
/**
 * How often a line of the log says where the chain stands. A keeper of logs can then tell when the whole chain was
 * written anew.
 */
const TELL_MS = 3_600_000;

/**
 * Opens an append-only log in a file: one JSON object a line. Each line has the hash of the one before, over all files
 * that were set aside. It never removes files. One process writes to a file. The log notices lines of another process,
 * or a file that was cut, within a second. It logs them as an error, and they break the chain for `verifyAudit`.
 *
 * A disk that is full, or fails, stops no call. 10 000 lines wait for it; further ones are lost, and counted in
 * `rockbot.audit.records`. An error is logged each minute. Once the disk takes lines again, the chain says how many are
 * missing. Written lines outlive this process; a machine that dies may take those of the last second with it. A file
 * that does not end in a line of such a log is set aside. The log has an error about it, and the chain says so.
 * @throws {AuditFileError} if no file can be opened there
 */
export async function openAuditLog(
  path: string,
  { key, maxBytes = DEFAULT_MAX_BYTES, log = silentLogger }: OpenAuditLogOptions = {},
): Promise<AuditLog> {
  const secret = key ?? (await ownSecret(path));
  registerSecret(secret);
  const writer = new AuditWriter(path, { key: createAuditKey(secret), maxBytes, log });
  await writer.open();
  return writer;
}

async function ownSecret(path: string): Promise<string> {
  try {
    return await secretBeside(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new AuditFileError(
      `Cannot open the audit file ${path}, as its key ${keyFileOf(path)} cannot be read or made: ${code ?? message}`,
      { cause: error },
    );
  }
}

interface Waiting {
  readonly text: string;
  /** The head once this line is written. */
  readonly head: ChainHead;
  readonly settle: () => void;
}

class AuditWriter implements AuditLog {
  readonly reader: AuditReader;
  readonly #path: string;
  readonly #key: AuditKey;
  readonly #maxBytes: number;
  readonly #log: Logger;
  readonly #counter = metrics
    .getMeter("@rockbot/audit")
    .createCounter("rockbot.audit.records", { description: "Records of calls, by outcome." });
  readonly #failures = metrics.getMeter("@rockbot/audit").createCounter("rockbot.audit.write_failures", {
    description: "Times the audit file could not be written. Its records wait for the disk.",
  });
  readonly #closed = new AbortController();
  #file: AuditFile | undefined;
  #size = 0;
  /** The head after the last line that was made, written or not. */
  #head: ChainHead = { seq: 0, hash: "" };
  /** The head after the last line that was written. */
  #written: ChainHead = this.#head;
  #waiting: Waiting[] = [];
  #lost = 0;
  #isFlushing = false;
  #isDue = false;
  #flushedAt = Number.NEGATIVE_INFINITY;
  readonly #deadlines = new Deadlines();
  #isSyncing = false;
  #isWriting = true;
  #isToLook = false;
  #told: { readonly seq: number; readonly at: number } = { seq: 0, at: 0 };
  #quietUntil = 0;
  #looking: NodeJS.Timeout | undefined;
  #watched: Disposable | undefined;

  constructor(
    path: string,
    { key, maxBytes, log }: { readonly key: AuditKey; readonly maxBytes: number; readonly log: Logger },
  ) {
    this.#path = path;
    this.reader = new AuditReader(path, () => this.#written);
    this.#key = key;
    this.#maxBytes = maxBytes;
    this.#log = log;
  }

  get isWriting(): boolean {
    return this.#isWriting && this.#waiting.length < MAX_WAITING;
  }

  async open(): Promise<void> {
    const file = await openAuditFile(this.#path);
    this.#head = file.head;
    this.#written = file.head;
    this.#take(file);
    this.#tell("opened the audit log");
    this.#watched = watchProblem(ProblemCode.AuditUnwritten, () => !this.isWriting);
    this.#looking = setInterval(() => void this.#lookAfter(), LOOK_MS).unref();
  }

  async write(record: AuditLine): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING || this.#closed.signal.aborted) {
      this.#lost += 1;
      this.#counter.add(1, { outcome: "lost" });
      return;
    }
    this.#noteLost();
    const fields = this.#fieldsOf(record);
    if (!this.#isWriting) return this.#enqueue(fields, () => {});
    return new Promise((resolve) => {
      const callOff = this.#deadlines.after(WRITE_MS, () => {
        this.#counter.add(1, { outcome: "late" });
        resolve();
      });
      this.#enqueue(fields, () => {
        callOff();
        resolve();
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed.signal.aborted) return;
    clearInterval(this.#looking);
    this.#watched?.[Symbol.dispose]();
    this.#noteLost();
    const end = performance.now() + CLOSE_MS;
    while ((this.#waiting.length > 0 || this.#isFlushing) && performance.now() < end) {
      void this.#flush();
      await pause(5);
      if (!this.#isFlushing && !this.#isWriting) break; // the disk has just said no
    }
    this.#closed.abort();
    if (this.#waiting.length > 0)
      this.#log.error(
        { path: this.#path, records: this.#waiting.length },
        "lost audit records that the disk has not taken",
      );
    const { handle } = this.#file ?? {};
    await within(CLOSE_MS, finish(handle), () => new Error("The disk does not answer")).catch(() => {});
    this.#tell("closed the audit log");
  }

  #take(file: AuditFile): void {
    this.#file = file;
    this.#size = file.size;
    const { droppedBytes, setAside } = file;
    if (setAside !== undefined) {
      this.#log.error(
        { path: this.#path, ...setAside },
        'the audit file did not end in a line of an audit log. It is set aside, and the chain continues in a new file. Check both with "rockbot audit verify"',
      );
      this.#enqueue({ event: "set_aside", file: basename(setAside.file), reason: setAside.reason }, () => {});
    }
    if (droppedBytes > 0) {
      this.#log.warn(
        { path: this.#path, droppedBytes },
        "removed the last line of the audit file, which a crash had cut off",
      );
      this.#enqueue({ event: "recovered", droppedBytes }, () => {});
    }
  }

  /** The texts without secrets and as long as a line may have them, and of the arguments a hash. */
  #fieldsOf(record: AuditLine): object {
    const fields: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(record))
      fields[name] = typeof value === "string" ? shortened(value) : value;
    if ("arguments" in record && record.arguments !== undefined) fields.arguments = this.#key.hash(record.arguments);
    return fields;
  }

  #enqueue(fields: object, settle: () => void): void {
    const { text, head } = nextLine(this.#head, fields, new Date());
    this.#head = head;
    this.#waiting.push({ text, head, settle });
    if (this.#isWriting) this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#isDue || this.#isFlushing) return;
    this.#isDue = true;
    const flush = (): void => {
      this.#isDue = false;
      void this.#flush();
    };
    const waitMs = this.#flushedAt + GATHER_MS - performance.now();
    if (waitMs > 0) setTimeout(flush, waitMs);
    else setImmediate(flush); // with the other lines of this turn
  }

  #noteLost(): void {
    if (this.#lost === 0 || this.#waiting.length >= MAX_WAITING) return;
    const records = this.#lost;
    this.#lost = 0;
    this.#enqueue({ event: "lost", records }, () => {});
  }

  /**
   * Once a second: brings what is written to the disk, sees whether the file is still ours, and tries again what has
   * failed.
   */
  async #lookAfter(): Promise<void> {
    this.#isToLook = true;
    void this.#flush();
    if (performance.now() - this.#told.at >= TELL_MS && this.#told.seq !== this.#written.seq)
      this.#tell("wrote audit records");
    if (this.#isSyncing) return;
    this.#isSyncing = true;
    await this.#file?.handle.datasync().catch(() => {}); // what is wrong with the disk shows when it is written to
    this.#isSyncing = false;
  }

  /** Writes what waits, as much as goes at once. Never rejects: see #fail. */
  async #flush(): Promise<void> {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    this.#flushedAt = performance.now();
    try {
      if (this.#isToLook) await this.#look();
      if (this.#waiting.length > 0 && !this.#closed.signal.aborted) await this.#writeBatch();
      this.#isWriting = true;
      if (this.#lost > 0) this.#noteLost();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isFlushing = false;
    }
    if (this.#isWriting && this.#waiting.length > 0) this.#flushSoon();
  }

  async #writeBatch(): Promise<void> {
    const { handle } = this.#file ?? (await this.#reopen());
    const batch = this.#waiting.slice(0, MAX_BATCH);
    const bytes = Buffer.from(batch.map(({ text }) => text).join(""));
    try {
      for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten;
    } catch (error) {
      await handle.truncate(this.#size).catch(() => {}); // a part of a line would break the chain
      throw error;
    }
    this.#size += bytes.length;
    this.#waiting.splice(0, batch.length);
    this.#written = batch.at(-1)?.head ?? this.#written;
    this.#counter.add(batch.length, { outcome: "written" });
    for (const { settle } of batch) settle();
    if (this.#size >= this.#maxBytes) await this.#rotate();
  }

  async #rotate(): Promise<void> {
    await putAside(this.#path, this.#written.seq);
    await this.#leave();
    this.#tell("set the audit file aside");
    await this.#reopen();
  }

  /** Done with the file, also if it cannot be closed. */
  async #leave(): Promise<void> {
    const handle = this.#file?.handle;
    this.#file = undefined;
    await finish(handle);
  }

  /** Takes up the file that has the name now: ours was put aside, by us or by somebody else. */
  async #reopen(): Promise<AuditFile> {
    const file = await openAuditFile(this.#path);
    this.#take(file);
    return file;
  }

  /** Sees whether the file is still the one that was written. One that somebody has moved is followed by a new one. */
  async #look(): Promise<void> {
    this.#isToLook = false;
    const { handle } = this.#file ?? {};
    if (handle === undefined) return;
    const [ours, named] = await Promise.all([handle.stat(), statOf(this.#path)]);
    if (named?.ino !== ours.ino) {
      await this.#leave();
      await this.#reopen();
    } else if (ours.size !== this.#size) {
      const fields = { path: this.#path, expectedBytes: this.#size, bytes: ours.size };
      this.#complain(
        fields,
        "another process has changed the audit file, which breaks its chain. Give each process its own file",
      );
      this.#size = ours.size;
    }
  }

  #fail(error: unknown): void {
    this.#failures.add(1);
    this.#isWriting = false;
    for (const { settle } of this.#waiting) settle(); // their calls go on; the lines stay
    const fields = {
      err: error,
      path: this.#path,
      waiting: this.#waiting.length,
      maxWaiting: MAX_WAITING,
      lost: this.#lost,
    };
    this.#complain(
      fields,
      "could not write the audit file. Records wait for the disk, and those above maxWaiting are lost",
    );
  }

  #complain(fields: object, message: string): void {
    if (performance.now() < this.#quietUntil) return;
    this.#quietUntil = performance.now() + QUIET_MS;
    this.#log.error(fields, message);
  }

  #tell(message: string): void {
    this.#told = { seq: this.#written.seq, at: performance.now() };
    this.#log.info({ path: this.#path, key: this.#key.id, ...this.#written }, message);
  }
}

async function finish(handle: { datasync(): Promise<void>; close(): Promise<void> } | undefined): Promise<void> {
  await handle?.datasync().catch(() => {}); // what could not be brought to the disk shows in the chain
  await handle?.close();
}

/** A text that a stranger may have chosen. */
const shortened = (text: string): string => redact(text.slice(0, MAX_LOOKED_AT)).slice(0, MAX_TEXT);

const statOf = (path: string): Promise<{ readonly ino: number } | undefined> => stat(path).catch(() => undefined);
