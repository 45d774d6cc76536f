import { type ChainHead, type ChainLine, readLine } from "./chain.ts";
import { linesOf } from "./lines-of.ts";

/** One file of a chain that is whole as far as it was read. */
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

/** The first place where the chain is broken. */
export interface AuditFault {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  readonly message: string;
}

export interface AuditReport {
  /** In the order of the chain. */
  readonly files: readonly AuditFileReport[];
  readonly fault?: AuditFault | undefined;
  /** Where the chain ends, or ends being whole. */
  readonly head: ChainHead;
  /** The number of the first line, if it is not 1: what was before it is in other files, and not vouched for. */
  readonly startsAt?: number | undefined;
  /** Whether the hash that was asked for is one of the chain's. */
  readonly hasHead?: boolean | undefined;
}

/**
 * Reads the files of one chain, in any order, and says whether each line follows the one before it unchanged, up to the first
 * that does not. A chain proves nothing against who can write all of it anew: for that, note a hash elsewhere, such as those
 * that services log, and ask for it as `head`.
 * @throws the error of a file that cannot be read
 */
export async function verifyAudit(files: readonly string[], { head: wanted }: { readonly head?: string | undefined } = {}): Promise<AuditReport> {
  const check = new ChainCheck(wanted);
  const ordered = await inOrder(files);
  for (const [index, file] of ordered.entries()) {
    if (!(await check.read(file, index === ordered.length - 1))) break;
  }
  return check.report();
}

/** By the number of their first lines. A file whose first line is no line goes first: it is where reading ends. */
async function inOrder(files: readonly string[]): Promise<string[]> {
  const numbered = await Promise.all(files.map(async (file) => ({ file, seq: await firstSeq(file) })));
  return numbered.sort((a, b) => a.seq - b.seq).map(({ file }) => file);
}

async function firstSeq(file: string): Promise<number> {
  for await (const { text, isComplete } of linesOf(file)) {
    const line = readLine(text);
    return typeof line !== "string" ? line.seq : isComplete ? 0 : Number.POSITIVE_INFINITY;
  }
  return Number.POSITIVE_INFINITY;
}

class ChainCheck {
  readonly #wanted: string | undefined;
  readonly #files: AuditFileReport[] = [];
  #head: ChainHead | undefined;
  #startsAt: number | undefined;
  #fault: AuditFault | undefined;
  #hasHead = false;

  constructor(wanted: string | undefined) {
    this.#wanted = wanted;
  }

  report(): AuditReport {
    return {
      files: this.#files,
      fault: this.#fault,
      head: this.#head ?? { seq: 0, hash: "" },
      startsAt: this.#startsAt,
      hasHead: this.#wanted === undefined ? undefined : this.#hasHead,
    };
  }

  /** @returns whether the chain is whole so far */
  async read(file: string, isLast: boolean): Promise<boolean> {
    let count = 0;
    let first: ChainLine | undefined;
    let last: ChainLine | undefined;
    let lost = 0;
    let cutOffBytes = 0;
    for await (const { text, isComplete } of linesOf(file)) {
      count++;
      if (!isComplete && isLast) {
        cutOffBytes = Buffer.byteLength(text);
        count--;
        break;
      }
      const line = readLine(text);
      const message = typeof line === "string" ? line : isComplete ? this.#misplaced(line) : "it is cut off in the middle, and other files follow";
      if (message !== undefined || typeof line === "string") {
        this.#fault = { file, line: count, message: message ?? "" };
        count--;
        break;
      }
      this.#follow(line);
      first ??= line;
      last = line;
      if (line.fields["event"] === "lost") lost += Number(line.fields["records"]) || 0;
    }
    this.#files.push({ file, lines: count, firstSeq: first?.seq ?? 0, lastSeq: last?.seq ?? 0, from: first?.time, to: last?.time, lost, cutOffBytes });
    return this.#fault === undefined;
  }

  /** Why the line cannot be the next one, in words. The first line of all may have any number: see startsAt. */
  #misplaced({ seq, previous }: ChainLine): string | undefined {
    const head = this.#head;
    if (head === undefined) return seq === 1 && /[^0]/.test(previous) ? "it is the first line, and says that there was one before" : undefined;
    const expected = head.seq + 1;
    if (seq > expected)
      return `${seq - expected === 1 ? `line ${expected} of the chain is` : `lines ${expected} to ${seq - 1} of the chain are`} missing before it`;
    if (seq < expected) return `it has the number ${seq}, and ${expected} is the next: it was inserted or moved here`;
    return previous === head.hash ? undefined : "it does not follow the line before it, which was replaced";
  }

  #follow({ seq, hash, previous }: ChainLine): void {
    if (this.#head === undefined && seq > 1) {
      this.#startsAt = seq;
      this.#hasHead ||= previous === this.#wanted;
    }
    this.#head = { seq, hash };
    this.#hasHead ||= hash === this.#wanted;
  }
}
