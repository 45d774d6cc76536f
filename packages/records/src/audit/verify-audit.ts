import { type ChainHead, type ChainLine, MAX_LINE_BYTES, readLine } from "./chain.ts";
import { type FileLine, linesOf } from "./lines-of.ts";

/** One file of a chain. */
export interface AuditFileReport {
  readonly file: string;
  readonly lines: number;
  /** The numbers of its first and last line; 0 for a file without any. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** When these were written. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Records that its lines say were lost, for want of a disk. */
  readonly lost: number;
  /** Bytes of a last line that was cut off in the middle, as a crash does: no line before it is in doubt. */
  readonly cutOffBytes: number;
}

/** A place where the chain is broken. */
export interface AuditFault {
  readonly file: string;
  /** Counted from 1, where the check of the file began. */
  readonly line: number;
  /** The number of the last line before it that could be read; 0 if there is none. */
  readonly after: number;
  /** How many lines from there on are none that can be read; 0 for one that can, and does not fit. */
  readonly unreadable: number;
  readonly message: string;
}

/** The state of the files of an audit log, with every fault in them. */
export interface AuditReport {
  /** The reports in the order of the chain. */
  readonly files: readonly AuditFileReport[];
  /** The first 100 faults, in the order of the files. */
  readonly faults: readonly AuditFault[];
  /** How many there are besides. */
  readonly furtherFaults: number;
  /** Where the chain ends. */
  readonly head: ChainHead;
  /** The number of the first line, if it is not 1: what was before it is in other files, and not vouched for. */
  readonly startsAt?: number | undefined;
  /** True if the chain has the hash that was asked for. */
  readonly hasHead?: boolean | undefined;
}

/**
 * Reads the files of one chain, in any order, and says which lines do not follow the one before them unchanged. A chain
 * proves nothing against an attacker who can write all of it anew. Against that, note a hash elsewhere, such as those
 * that services log, and ask for it as `head`.
 * @throws the error of a file that cannot be read
 */
export async function verifyAudit(
  files: readonly string[],
  { head: wanted }: { readonly head?: string | undefined } = {},
): Promise<AuditReport> {
  const check = new ChainCheck(wanted);
  const ordered = await inOrder(files);
  for (const [index, file] of ordered.entries()) await check.read(file, index === ordered.length - 1);
  return check.report();
}

/** By the number of their first lines that can be read. A file without any goes first. */
async function inOrder(files: readonly string[]): Promise<string[]> {
  const numbered = await Promise.all(files.map(async (file) => ({ file, seq: await firstSeq(file) })));
  return numbered.sort((a, b) => a.seq - b.seq).map(({ file }) => file);
}

async function firstSeq(file: string): Promise<number> {
  let first = Number.POSITIVE_INFINITY; // a file without whole lines is the newest, if it is one of ours
  for await (const { bytes, isComplete } of linesOf(file)) {
    const line = readLine(bytes);
    if (typeof line !== "string") return line.seq;
    if (isComplete || bytes.length > MAX_LINE_BYTES) first = 0;
  }
  return first;
}

/** Faults that are reported one by one. */
const MAX_FAULTS = 100;

/** Follows a chain over its files, which have to come in its order. */
export class ChainCheck {
  readonly #wanted: string | undefined;
  readonly #files: AuditFileReport[] = [];
  #head: ChainHead | undefined;
  #startsAt: number | undefined;
  readonly #faults: AuditFault[] = [];
  #furtherFaults = 0;
  /** Lines that could not be read since the last that could. */
  #unreadable = 0;
  #hasHead = false;

  constructor(wanted: string | undefined) {
    this.#wanted = wanted;
  }

  report(): AuditReport {
    const [file] = this.#files;
    if (file !== undefined && this.#head === undefined && this.#faults.length === 0) {
      this.#note({
        file: file.file,
        line: 1,
        unreadable: 0,
        message: "there is no line of an audit log: one that was emptied looks like this",
      });
    }
    return {
      files: this.#files,
      faults: this.#faults,
      furtherFaults: this.#furtherFaults,
      head: this.#head ?? { seq: 0, hash: "" },
      startsAt: this.#startsAt,
      hasHead: this.#wanted === undefined ? undefined : this.#hasHead,
    };
  }

  /** @param found the lines to check, if not all of the file */
  async read(file: string, isLast: boolean, found: AsyncIterable<FileLine> = linesOf(file)): Promise<void> {
    let at = 0;
    let lines = 0;
    let first: ChainLine | undefined;
    let last: ChainLine | undefined;
    let lost = 0;
    let cutOffBytes = 0;
    for await (const { bytes, isComplete } of found) {
      if (!isComplete && isLast && bytes.length <= MAX_LINE_BYTES) {
        cutOffBytes = bytes.length;
        break;
      }
      at++;
      const line = readLine(bytes);
      if (typeof line === "string") {
        this.#noteUnreadable({ file, line: at, message: line });
        continue;
      }
      const message = isComplete ? this.#misplaced(line) : "it is cut off in the middle, and other files follow";
      if (message !== undefined) this.#note({ file, line: at, unreadable: 0, message });
      this.#follow(line);
      lines++;
      first ??= line;
      last = line;
      if (line.fields["event"] === "lost") lost += Number(line.fields["records"]) || 0;
    }
    this.#files.push({
      file,
      lines,
      firstSeq: first?.seq ?? 0,
      lastSeq: last?.seq ?? 0,
      from: first?.time,
      to: last?.time,
      lost,
      cutOffBytes,
    });
  }

  /** Unreadable lines that follow each other are one fault. */
  #noteUnreadable(fault: Omit<AuditFault, "unreadable" | "after">): void {
    this.#unreadable++;
    const before = this.#faults.at(-1);
    if (before?.file === fault.file && before.line + before.unreadable === fault.line) {
      this.#faults.splice(-1, 1, { ...before, unreadable: before.unreadable + 1 });
    } else this.#note({ ...fault, unreadable: 1 });
  }

  #note(fault: Omit<AuditFault, "after">): void {
    if (this.#faults.length < MAX_FAULTS) this.#faults.push({ ...fault, after: this.#head?.seq ?? 0 });
    else this.#furtherFaults++;
  }

  /** Why the line cannot be the next one, in words. The first line of all may have any number: see startsAt. */
  #misplaced({ seq, previous }: ChainLine): string | undefined {
    const head = this.#head;
    if (head === undefined)
      return seq === 1 && /[^0]/.test(previous)
        ? "it is the first line, and says that there was one before"
        : undefined;
    const expected = head.seq + 1;
    if (this.#unreadable > 0 && seq === expected + this.#unreadable) return undefined; // what could not be read stands in the place of these
    if (seq > expected)
      return `${seq - expected === 1 ? `line ${expected} of the chain is` : `lines ${expected} to ${seq - 1} of the chain are`} missing before it`;
    if (seq < expected) return `it has the number ${seq}, and ${expected} is the next: it was inserted or moved here`;
    return previous === head.hash ? undefined : "it does not follow the line before it, which was replaced";
  }

  #follow({ seq, hash, previous }: ChainLine): void {
    if (this.#head === undefined && seq > 1 + this.#unreadable) {
      this.#startsAt = seq - this.#unreadable;
      this.#hasHead ||= previous === this.#wanted;
    }
    this.#head = { seq, hash };
    this.#unreadable = 0;
    this.#hasHead ||= hash === this.#wanted;
  }
}
