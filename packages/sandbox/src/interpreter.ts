import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { cellsSource } from "./generated/cells.ts";
import { KeptText } from "./job/kept-text.ts";
import { ReceivedFiles } from "./job/received-files.ts";
import { ShownBytes } from "./job/shown-bytes.ts";
import { whole } from "./job/whole.ts";
import {
  type CellPort,
  type RunScriptOptions,
  type ScriptCells,
  type ScriptFiles,
  type ScriptJob,
  ScriptLimit,
  type ScriptOutcome,
  type ScriptRunner,
} from "./script-runner.ts";

/** One piece of a session. */
export interface Cell {
  /** Python source. */
  readonly source: string;
  /** Reaches the cell on its stdin. */
  readonly input?: string | undefined;
  /** @default none goes in, and none comes out */
  readonly files?: ScriptFiles | undefined;
  /** How many bytes of what it shows come out, as those of a script. @default 0 */
  readonly shownBytes?: number | undefined;
  /** How long it may run, from its first line on. */
  readonly timeoutMs: number;
}

/** How a cell ended. */
export interface CellOutcome extends Omit<ScriptOutcome, "durations" | "isWarm"> {
  /** Counts the cells of the interpreter from 1. */
  readonly cell: number;
  readonly runMs: number;
  /** The interpreter is over with it. */
  readonly isLast: boolean;
}

export interface OpenInterpreterOptions {
  /** Ends the interpreter at once. */
  readonly signal: AbortSignal;
  /** How long it may be there, whatever it does. */
  readonly lastsMs: number;
  /** How long a cell that was interrupted may go on, before the interpreter is ended with it. @default 2_000 */
  readonly stopMs?: number | undefined;
}

export interface RunCellOptions extends Pick<RunScriptOptions, "onOutput"> {
  /** Interrupts the cell, and ends the interpreter if it does not stop. */
  readonly signal: AbortSignal;
}

/** How long the files of a cell may take. */
const FILES_MS = 60_000;
const [BEGUN, SHOWN, OVER, FILE, DATA, WAITS] = ["b", "v", "x", "f", "d", "e"].map((mark) => mark.charCodeAt(0));

/** The cell that runs. */
interface Running {
  readonly number: number;
  readonly cell: Cell;
  readonly options: RunCellOptions;
  readonly files: ReceivedFiles | undefined;
  readonly shown: ShownBytes;
  readonly outcome: PromiseWithResolvers<CellOutcome>;
  begunAt: number | undefined;
  /** Its last line has run. */
  over: { readonly end: string; readonly status: number; readonly runMs: number } | undefined;
  printed: Printed | undefined;
  /** Its time is over. */
  isLate: boolean;
  isInterrupted: boolean;
  timer: NodeJS.Timeout | undefined;
}

type Printed = Pick<ScriptOutcome, "stdout" | "stderr" | "droppedBytes">;

/**
 * Opens an interpreter that lasts, in a sandbox of its own. It keeps variables, imports and its folder from cell to cell.
 * Output of threads and processes of earlier cells belongs to the next one.
 */
export function openInterpreter(
  runner: Pick<ScriptRunner, "run">,
  job: Pick<ScriptJob, "id" | "packages" | "messages">,
  options: OpenInterpreterOptions,
): Interpreter {
  return new Interpreter(runner, job, options);
}

/** An interpreter that lasts until its signal, its time, one of its cells or a limit ends it. */
export class Interpreter implements AsyncDisposable {
  readonly #ending = new AbortController();
  readonly #started = Promise.withResolvers<void>();
  readonly #over: Promise<ScriptOutcome | Error>;
  readonly #stopMs: number;
  #port: CellPort | undefined;
  #out = new KeptText(0);
  #err = new KeptText(0);
  #running: Running | undefined;
  #cells = 0;
  #isOver = false;

  constructor(
    runner: Pick<ScriptRunner, "run">,
    job: Pick<ScriptJob, "id" | "packages" | "messages">,
    { signal, lastsMs, stopMs = 2_000 }: OpenInterpreterOptions,
  ) {
    this.#stopMs = stopMs;
    const cells: ScriptCells = {
      onStarted: (port) => {
        this.#port = port;
        this.#renew(port);
        this.#started.resolve();
      },
      onOutput: (stream, bytes) => {
        (stream === "out" ? this.#out : this.#err).add(bytes);
        this.#running?.options.onOutput?.(bytes, false);
      },
      onPrinted: ({ out, err }) => {
        if (this.#running !== undefined) this.#running.printed = this.#printed(out, err);
        if (this.#port !== undefined) this.#renew(this.#port);
      },
      onPacket: (packet) => this.#take(packet),
    };
    this.#started.promise.catch(() => {});
    this.#over = runner
      .run(
        { ...job, script: cellsSource, timeoutMs: lastsMs, cells },
        { signal: AbortSignal.any([signal, this.#ending.signal]), deadline: performance.now() + lastsMs },
      )
      .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
    void this.#over.then((end) => this.#ended(end));
  }

  /** Resolves once it takes cells. @throws {ToolError} if there is no sandbox for it */
  get started(): Promise<void> {
    return this.#started.promise;
  }

  /** Resolves once it is over, with how it ended. Never rejects. */
  get over(): Promise<ScriptOutcome | Error> {
    return this.#over;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Runs the next cell. One cell runs at a time.
   * @throws {ToolError} if the interpreter ends in another way than by the cell; the signal's reason, once the cell has
   * stopped, or the interpreter was ended with it
   */
  async run(cell: Cell, options: RunCellOptions): Promise<CellOutcome> {
    const { signal } = options;
    signal.throwIfAborted();
    await this.#started.promise;
    const port = this.#port;
    if (port === undefined || this.#isOver || this.#running !== undefined)
      throw new TypeError("the interpreter is over, or runs a cell");
    const running = this.#begin(cell, options);
    const interrupt = (): void => this.#interrupt(running);
    signal.addEventListener("abort", interrupt, { once: true });
    try {
      if (signal.aborted) interrupt();
      for await (const part of encodeCell(running.number, cell)) await port.send(part);
      const outcome = await running.outcome.promise;
      signal.throwIfAborted();
      return outcome;
    } catch (error) {
      // Half a cell cannot be taken back, and a cell whose end nobody has seen may go on.
      if (running.over === undefined && !this.#isOver) this.#ending.abort(brokenOff());
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener("abort", interrupt);
      clearTimeout(running.timer);
      running.files?.cut();
      if (this.#running === running) this.#running = undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort(new ToolError(ToolErrorCode.Cancelled, "The session was ended."));
    await this.#over;
  }

  #begin(cell: Cell, options: RunCellOptions): Running {
    this.#cells++;
    const running: Running = {
      number: this.#cells,
      cell,
      options,
      files: cell.files === undefined ? undefined : new ReceivedFiles(cell.files),
      shown: new ShownBytes(cell.shownBytes ?? 0),
      outcome: Promise.withResolvers(),
      begunAt: undefined,
      over: undefined,
      printed: undefined,
      isLate: false,
      isInterrupted: false,
      timer: undefined,
    };
    running.outcome.promise.catch(() => {});
    this.#running = running;
    return running;
  }

  #renew({ keepBytes }: CellPort): void {
    this.#out = new KeptText(keepBytes);
    this.#err = new KeptText(keepBytes);
  }

  #printed(droppedOut: number, droppedErr: number): Printed {
    const stdout = this.#out.end(droppedOut);
    const stderr = this.#err.end(droppedErr);
    return {
      stdout: stdout.text,
      stderr: stderr.text,
      droppedBytes: { stdout: stdout.droppedBytes, stderr: stderr.droppedBytes },
    };
  }

  /** What a cell says of itself is believed for this cell alone. */
  async #take(packet: Buffer): Promise<void> {
    const running = this.#running;
    const rest = packet.subarray(1);
    if (packet[0] === DATA) return await running?.files?.add(rest);
    if (packet[0] === SHOWN) return running?.shown.add(rest);
    const words = rest.toString().split(" ");
    if (packet[0] === FILE) return await running?.files?.begin(words.slice(1).join(" "), Number(words[0]));
    if (running === undefined || words[0] !== String(running.number)) return;
    if (packet[0] === BEGUN && running.begunAt === undefined) this.#begun(running);
    else if (packet[0] === OVER && running.over === undefined)
      this.#cellOver(running, words[1] ?? "", Number(words[2]));
    else if (packet[0] === WAITS && running.over !== undefined) await this.#waits(running, Number(words[1]));
  }

  #begun(running: Running): void {
    running.begunAt = performance.now();
    if (running.isInterrupted) void this.#port?.interrupt();
    else
      running.timer = setTimeout(() => {
        running.isLate = true;
        this.#interrupt(running);
      }, running.cell.timeoutMs);
  }

  #interrupt(running: Running): void {
    if (running.isInterrupted || running.over !== undefined) return;
    running.isInterrupted = true;
    if (running.begunAt !== undefined) void this.#port?.interrupt();
    clearTimeout(running.timer);
    running.timer = setTimeout(() => this.#ending.abort(brokenOff()), this.#stopMs);
  }

  #cellOver(running: Running, end: string, status: number): void {
    running.over = { end, status: Number.isSafeInteger(status) ? status : 1, runMs: sinceBegun(running) };
    running.printed ??= this.#printed(0, 0);
    clearTimeout(running.timer);
    running.timer = setTimeout(() => this.#ending.abort(brokenOff()), FILES_MS);
  }

  async #waits(running: Running, passedFiles: number): Promise<void> {
    await running.files?.end();
    const { end = "", status = 1 } = running.over ?? {};
    const isCut = running.isLate && end === "interrupted";
    running.outcome.resolve({
      ...this.#facts(running),
      exitCode: isCut ? null : exitCodeOf(end, status),
      limit: isCut ? ScriptLimit.Time : null,
      passedFiles: Number.isSafeInteger(passedFiles) ? passedFiles : 0,
      isLast: end === "exit",
      shown: running.shown.end(),
    });
    if (end === "exit") setTimeout(() => this.#ending.abort(brokenOff()), this.#stopMs).unref();
  }

  #facts(running: Running) {
    return {
      ...(running.printed ?? this.#printed(0, 0)),
      cell: running.number,
      signal: null,
      strangers: 0,
      timeoutMs: running.cell.timeoutMs,
      runMs: running.over?.runMs ?? sinceBegun(running),
    };
  }

  #ended(end: ScriptOutcome | Error): void {
    this.#isOver = true;
    const running = this.#running;
    const isBrokenOff = this.#ending.signal.aborted;
    this.#started.reject(end instanceof Error ? end : brokenOff());
    if (running === undefined) return;
    if (end instanceof Error && !(isBrokenOff && running.isLate)) {
      running.outcome.reject(end);
      return;
    }
    const { exitCode, signal, limit, droppedBytes, strangers } = end instanceof Error ? cutOff : end;
    running.outcome.resolve({
      ...this.#facts(running),
      ...(running.printed ?? this.#printed(droppedBytes.stdout, droppedBytes.stderr)),
      exitCode,
      signal,
      limit: running.isLate ? ScriptLimit.Time : limit,
      strangers,
      passedFiles: 0,
      isLast: true,
    });
  }
}

/** A cell as `frames.ts` has it. */
async function* encodeCell(
  number: number,
  { source, input, files, shownBytes = 0, timeoutMs }: Cell,
): AsyncGenerator<Buffer> {
  const sourceBytes = Buffer.from(source);
  const inputBytes = input === undefined ? undefined : Buffer.from(input);
  const given = files?.given ?? [];
  const head = {
    cell: number,
    source: sourceBytes.length,
    input: inputBytes?.length ?? null,
    files: given.map(({ name, size }) => [name, size]),
    outFiles: files?.mostFiles ?? 0,
    outBytes: files?.mostBytes ?? 0,
    shownBytes,
    timeoutMs: whole(timeoutMs),
  };
  yield Buffer.from(JSON.stringify(head));
  yield sourceBytes;
  if (inputBytes !== undefined) yield inputBytes;
  for (const file of given) yield* file.read();
}

const sinceBegun = ({ begunAt }: Running): number => (begunAt === undefined ? 0 : performance.now() - begunAt);

const exitCodeOf = (end: string, status: number): number =>
  end === "exit" ? status : end === "done" ? 0 : end === "interrupted" ? 130 : 1;

const cutOff = {
  exitCode: null,
  signal: null,
  limit: ScriptLimit.Time,
  droppedBytes: { stdout: 0, stderr: 0 },
  strangers: 0,
};

const brokenOff = (): ToolError =>
  new ToolError(ToolErrorCode.ExecutionFailed, "The session was ended: its cell did not stop.", {
    details: { reason: "session_ended" },
  });
