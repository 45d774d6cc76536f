import { createSemaphore, type Semaphore, within } from "@rockbot/base";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { BodyTextKind, DocumentKind } from "./document/document-kind.ts";
import type { ImageFacts } from "./document/image-facts.ts";
import type { ExtractedRecord, ExtractRule } from "./extract/extract.ts";
import type { HtmlJob, PageJob, PageOutcome, PageResult } from "./page-job.ts";
import { type PageProcess, PageProcessEndedError, startPageProcess } from "./start-page-process.ts";
import type { MarkdownPage } from "./to-markdown.ts";

/** The page cannot be converted within the limits. The message says why, as the end of a sentence. */
export class PageConversionError extends Error {
  override readonly name = "PageConversionError";
}

/** A text says nothing of the encoding of its characters, and its bytes make no text in any that is known. */
export class UndecodableError extends PageConversionError {}

/** The bounds of one page, and of the processes. */
export interface PageConverterOptions {
  /**
   * For one page, in milliseconds of the processor: what else the machine does is not the page's fault.
   * @default 5_000
   */
  readonly timeoutMs?: number | undefined;
  /** How many pages are converted at once, each in a process of its own; more wait. @default 1 */
  readonly processes?: number | undefined;
  /** A process that has nothing to do ends after this time, in milliseconds. @default 30_000 */
  readonly idleMs?: number | undefined;
  /** The bound of V8's heap in one process, in MiB: 160 hold a page of 200 000 nodes. @default 160 */
  readonly maxHeapMb?: number | undefined;
  /**
   * The bound of one process while it converts a page, native memory included, in MiB: those 200 000 nodes reach 270.
   * @default 320
   */
  readonly maxMemoryMb?: number | undefined;
  /** The longest markdown, in UTF-16 code units. @default 10_000_000 */
  readonly maxLength?: number | undefined;
}

/**
 * Converts pages in processes of their own, for a page is a stranger's program for the converter. A page that takes too
 * long or too much memory ends its process, and nothing else. Processes start when there is work, and are used again.
 * Disposal cancels what runs and what waits, and leaves no process behind.
 */
export interface PageConverter extends AsyncDisposable {
  /**
   * The content of a page, or all of it with `isWhole`.
   * @throws {PageConversionError} if it is the page's fault
   * @throws {ToolError} `unavailable` if no process can be started or the machine is too busy, `cancelled` after
   * disposal
   * @throws the signal's reason once it aborts
   */
  convert(html: string, url: string, options?: ConvertHtmlOptions): Promise<MarkdownPage>;
  /**
   * The bytes of a text: a page's content, a feed as a list, JSON by its members, XHTML as the page that it is.
   * @param url where it came from
   * @throws {UndecodableError}
   * @throws as `convert` does
   */
  convertBody(kind: BodyTextKind, body: Uint8Array, url: string, options?: ConvertBodyOptions): Promise<MarkdownPage>;
  /** A document that is no page, with the same bounds. @throws as `convert` does */
  convertDocument(kind: DocumentKind, bytes: Uint8Array, options?: ConvertOptions): Promise<MarkdownPage>;
  /** The type and size of an image. @throws as `convert` does */
  imageFacts(bytes: Uint8Array, options?: ConvertOptions): Promise<ImageFacts>;
  /** As `htmlToText` has it: `url` resolves its links. @throws as `convert` does */
  text(html: string, options?: PieceOptions): Promise<string>;
  /** The records that `rule` finds in the page. @throws as `convert` does */
  extract(html: string, rule: ExtractRule, options?: PieceOptions): Promise<readonly ExtractedRecord[]>;
}

interface ConvertOptions {
  readonly signal?: AbortSignal | undefined;
}

interface ConvertBodyOptions extends ConvertOptions {
  /** The content type, which names the encoding of its characters. @default only its bytes tell */
  readonly contentType?: string | undefined;
  /** True if it is the beginning of a longer one, so that it ends at the border of a block. @default false */
  readonly isBeginning?: boolean | undefined;
}

interface ConvertHtmlOptions extends ConvertOptions {
  /** True to keep all that people see, as for a letter. @default false */
  readonly isWhole?: boolean | undefined;
  /** True if a browser has run its scripts: then the page needs no browser, however little it shows. @default false */
  readonly isDrawn?: boolean | undefined;
}

/** Options for a page or a piece of one. */
export interface PieceOptions extends ConvertOptions {
  /** Its links are resolved against it. */
  readonly url?: string | undefined;
}

/** Starts no process yet. Throws nothing: a process that cannot start fails the conversion that needs it. */
export function createPageConverter(options: PageConverterOptions = {}): PageConverter {
  return new ProcessConverter(options);
}

class ProcessConverter implements PageConverter {
  readonly #limits: {
    readonly timeoutMs: number;
    readonly idleMs: number;
    readonly maxHeapMb: number;
    readonly maxMemoryMb: number;
    readonly maxLength: number;
  };
  readonly #closing = new AbortController();
  readonly #permits: Semaphore;
  readonly #idle: { readonly pageProcess: PageProcess; readonly timer: NodeJS.Timeout }[] = [];
  /** The work that disposal waits for: conversions, and the ends of processes that were idle for too long. */
  readonly #pending = new Set<Promise<unknown>>();

  constructor({
    timeoutMs = 5_000,
    processes = 1,
    idleMs = 30_000,
    maxHeapMb = 160,
    maxMemoryMb = 320,
    maxLength = 10_000_000,
  }: PageConverterOptions) {
    this.#limits = { timeoutMs, idleMs, maxHeapMb, maxMemoryMb, maxLength };
    this.#permits = createSemaphore(processes);
  }

  async convert(
    html: string,
    url: string,
    { signal, isWhole = false, isDrawn = false }: ConvertHtmlOptions = {},
  ): Promise<MarkdownPage> {
    return (await this.#doHtml(html, isWhole ? "whole" : isDrawn ? "drawn" : "markdown", {
      url,
      signal,
    })) as MarkdownPage;
  }

  async convertBody(
    kind: BodyTextKind,
    body: Uint8Array,
    url: string,
    { contentType, isBeginning = false, signal }: ConvertBodyOptions = {},
  ): Promise<MarkdownPage> {
    return (await this.#do(
      { body, kind, contentType, isBeginning, url, maxLength: this.#limits.maxLength },
      { signal },
    )) as MarkdownPage;
  }

  async convertDocument(
    document: DocumentKind,
    bytes: Uint8Array,
    options: ConvertOptions = {},
  ): Promise<MarkdownPage> {
    const { timeoutMs, maxLength } = this.#limits;
    return (await this.#do(
      { document, bytes, budgetMs: DOCUMENT_PART * timeoutMs, maxLength },
      options,
    )) as MarkdownPage;
  }

  async imageFacts(image: Uint8Array, options: ConvertOptions = {}): Promise<ImageFacts> {
    return (await this.#do({ image }, options)) as ImageFacts;
  }

  async text(html: string, options: PieceOptions = {}): Promise<string> {
    return (await this.#doHtml(html, "text", options)) as string;
  }

  async extract(html: string, rule: ExtractRule, options: PieceOptions = {}): Promise<readonly ExtractedRecord[]> {
    return (await this.#doHtml(html, rule, options)) as readonly ExtractedRecord[];
  }

  #doHtml(html: string, form: HtmlJob["form"], { url, signal }: PieceOptions): Promise<PageResult> {
    return this.#do({ html, url, form, maxLength: this.#limits.maxLength }, { signal });
  }

  #do(job: PageJob, { signal }: ConvertOptions): Promise<PageResult> {
    return this.#track(this.#run(job, signal));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new ToolError(ToolErrorCode.Cancelled, "Cannot convert the page: the service is stopping."));
    for (let pageProcess = this.#takeIdle(); pageProcess !== undefined; pageProcess = this.#takeIdle())
      void this.#track(pageProcess[Symbol.asyncDispose]());
    await Promise.allSettled(this.#pending);
  }

  #track<T>(work: PromiseLike<T>): Promise<T> {
    const tracked = Promise.resolve(work).finally(() => this.#pending.delete(tracked));
    this.#pending.add(tracked);
    return tracked;
  }

  /** An idle process leaves the list before it is ended, so that nobody gets a process that is about to end. */
  #takeIdle(): PageProcess | undefined {
    for (let entry = this.#idle.pop(); entry !== undefined; entry = this.#idle.pop()) {
      clearTimeout(entry.timer);
      if (!entry.pageProcess.hasEnded) return entry.pageProcess;
    }
    return undefined;
  }

  async #putBack(pageProcess: PageProcess): Promise<void> {
    if (this.#closing.signal.aborted) return await pageProcess[Symbol.asyncDispose]();
    const timer = setTimeout(() => {
      this.#idle.splice(this.#idle.indexOf(entry), 1);
      void this.#track(pageProcess[Symbol.asyncDispose]());
    }, this.#limits.idleMs).unref();
    const entry = { pageProcess, timer };
    this.#idle.push(entry);
  }

  async #run(job: PageJob, given: AbortSignal | undefined): Promise<PageResult> {
    const closing = this.#closing.signal;
    const signal = given === undefined ? closing : AbortSignal.any([closing, given]);
    using _permit = await this.#permits.acquire(signal);
    const { maxHeapMb } = this.#limits;
    const start = (): Promise<PageProcess> => startPageProcess({ maxHeapMb, signal }).catch(unavailable);
    const idleProcess = this.#takeIdle();
    if (idleProcess !== undefined) {
      try {
        return await this.#convertIn(idleProcess, job, signal);
      } catch (error) {
        if (!mayHaveDiedIdle(error)) throw conversionError(error);
      }
    }
    return await this.#convertIn(await start(), job, signal).catch((error: unknown) => {
      throw conversionError(error);
    });
  }

  /** The memory that a process may hold for a job. What it holds of the one before is not the fault of this one. */
  #maxMemoryBytes(pageProcess: PageProcess, job: PageJob): number {
    const packed = "document" in job ? job.bytes : "image" in job ? job.image : undefined;
    if (packed === undefined) return this.#limits.maxMemoryMb * MEBIBYTE;
    return (pageProcess.memoryBytes() ?? 0) + COPIES * packed.length + DOCUMENT_MB * MEBIBYTE;
  }

  /** @throws {PageConversionError} @throws {PageProcessEndedError} */
  async #convertIn(pageProcess: PageProcess, job: PageJob, signal: AbortSignal): Promise<PageResult> {
    let outcome: PageOutcome;
    try {
      const { timeoutMs } = this.#limits;
      outcome = await withinMemory(pageProcess, this.#maxMemoryBytes(pageProcess, job), () =>
        withinCpuTime(pageProcess, timeoutMs, () => pageProcess.convert(job, signal)),
      );
    } catch (error) {
      await pageProcess[Symbol.asyncDispose](); // the permit is kept until the process is gone, and its memory with it
      throw error;
    }
    await this.#putBack(pageProcess);
    if ("failure" in outcome)
      throw new (outcome.isUndecodable === true ? UndecodableError : PageConversionError)(outcome.failure);
    return outcome.result;
  }
}

/** The share of the time for a page that reads the pages of a document: the last page takes its time, too. */
const DOCUMENT_PART = 0.6;

const MEBIBYTE = 2 ** 20;
/** A document is held so many times until it is read: as it comes, put together, and by its reader. */
const COPIES = 3;
/** And may add so much, in MiB. Less than a page may: it is packed, and its buffers double as they grow. */
const DOCUMENT_MB = 112;
/** How often the memory of a process is looked at, in milliseconds: native code unpacks some hundred MB a second. */
const LOOK_MS = 10;

/** V8 bounds its own heap alone. @throws {PageConversionError} once the process is seen to hold more than `maxBytes` */
async function withinMemory<T>(pageProcess: PageProcess, maxBytes: number, start: () => Promise<T>): Promise<T> {
  const { promise: grown, reject } = Promise.withResolvers<never>();
  const looking = setInterval(() => {
    if ((pageProcess.memoryBytes() ?? 0) > maxBytes) reject(new PageConversionError("it takes too much memory"));
  }, LOOK_MS);
  const work = start();
  try {
    return await Promise.race([work, grown]);
  } finally {
    clearInterval(looking);
    work.catch(() => {}); // it fails once its process is ended
  }
}

/** A busy machine may take so many times as long. */
const PATIENCE = 10;
/** The system counts processor time in steps of this. */
const STEP_MS = 10;

/**
 * @throws {PageConversionError} once the process has worked for `limitMs`
 * @throws {ToolError} `unavailable` if it has not had so much of the processor in PATIENCE times that
 */
async function withinCpuTime<T>(pageProcess: PageProcess, limitMs: number, start: () => Promise<T>): Promise<T> {
  const before = await pageProcess.cpuTimeMs();
  const startedAt = performance.now();
  const work = start();
  const notYet = new Error("not yet");
  for (let waitMs = limitMs; ; ) {
    try {
      return await within(waitMs, work, () => notYet);
    } catch (error) {
      if (error !== notYet) throw error;
    }
    const now = await pageProcess.cpuTimeMs();
    const leftMs = now === undefined || before === undefined ? 0 : limitMs - (now - before);
    if (leftMs < STEP_MS) throw new PageConversionError(`it takes longer than ${limitMs} ms`);
    if (performance.now() - startedAt > PATIENCE * limitMs) {
      throw new ToolError(
        ToolErrorCode.Unavailable,
        "Cannot convert the page now: the machine has too much else to do. Try again later.",
      );
    }
    waitMs = leftMs;
  }
}

/**
 * A process that waited may have been killed from outside before this one heard of it, so the page is not to blame: V8
 * ends itself by SIGABRT.
 */
const mayHaveDiedIdle = (error: unknown): boolean =>
  error instanceof PageProcessEndedError && error.killedBy === "SIGKILL";

function conversionError(cause: unknown): unknown {
  if (!(cause instanceof PageProcessEndedError)) return cause;
  return new PageConversionError(cause.killedBy === null ? "it breaks the converter" : "it takes too much memory", {
    cause,
  });
}

function unavailable(cause: unknown): never {
  if (!(cause instanceof PageProcessEndedError)) throw cause;
  throw new ToolError(
    ToolErrorCode.Unavailable,
    `Cannot convert pages now: the converter's process does not start (${cause.message}).`,
    { cause },
  );
}
