import { ToolError } from "@rockbot/contracts";
import type { PackageLayer } from "./layer/package-layer.ts";

/** One script to run, once. */
export interface ScriptJob {
  /**
   * The id of one tool call, the same in each process that takes it up: 32 hex digits of a hash of its effective caller
   * and its `toolCallId`.
   */
  readonly id: string;
  /** Python source. */
  readonly script: string;
  /** Reaches the script on stdin, and as `ROCKBOT_INPUT` where a variable may be so long. */
  readonly input?: string | undefined;
  /** How long the script may run, from its first line on, as far as its call has the time. */
  readonly timeoutMs: number;
  /** What was installed for it. */
  readonly packages?: PackageLayer | undefined;
  /** The files that go in with it, and come out. @default none does */
  readonly files?: ScriptFiles | undefined;
  /**
   * How many bytes of what it shows besides its output come out with it: the value of its last expression, and its
   * charts.
   * @default 0: it runs without being looked at
   */
  readonly shownBytes?: number | undefined;
  /** Lets the script talk to this process while it runs. @default it cannot */
  readonly messages?: ScriptMessages | undefined;
  /** Has the job run cells, one after the other, in place of its script. @default it runs its script */
  readonly cells?: ScriptCells | undefined;
  /**
   * The job whose script this one is run in place of: where its sandbox is still there, that ends first.
   * @default none
   */
  readonly replaces?: string | undefined;
}

/** The files of a script. */
export interface ScriptFiles {
  /** They lie in the script's folder when it begins. */
  readonly given: readonly GivenFile[];
  /** How many files the script may leave in its folder `out`, and how many bytes of them all. */
  readonly mostFiles: number;
  readonly mostBytes: number;
  /** Takes one file that the script has left. The rest of one that it rejects is dropped. */
  onFile(name: string, bytes: AsyncIterable<Buffer>): Promise<void>;
}

/** A file that a script gets. */
export interface GivenFile {
  /** One part of a path. */
  readonly name: string;
  readonly size: number;
  read(): AsyncIterable<Buffer>;
}

/** This process's side of what a script says while it runs. */
export interface ScriptMessages {
  /**
   * Python source of the module `rockbot`, as the script finds it. Its global `channel` is a socket whose packets are
   * pieces of messages, as `frames.ts` has them.
   */
  readonly module: string;
  /**
   * Takes one message of the script, which may hold any bytes. It must not wait: what it starts answers by `port`.
   * @throws {ToolError} to end the script with it
   */
  onMessage(message: Buffer, port: ScriptPort): void;
}

/** This process's side of a session, whose cells run one after the other: see `frames.ts`. */
export interface ScriptCells {
  /** The interpreter is there, and takes cells by `port`. */
  onStarted(port: CellPort): void;
  /** Takes what the interpreter prints. */
  onOutput(stream: "out" | "err", bytes: Buffer): void;
  /** All that was printed before the cell's end has come but for so many bytes; what follows belongs to the next one. */
  onPrinted(dropped: { readonly out: number; readonly err: number }): void;
  /** Takes a packet of the interpreter. @throws {ToolError} to end the session with it */
  onPacket(packet: Buffer): Promise<void>;
}

/** The way to an interpreter. */
export interface CellPort {
  /** The bound for stdout of a cell, and for its stderr. */
  readonly keepBytes: number;
  /** Sends bytes of a cell. Resolves once they are on their way, or nobody is there to read them. Never rejects. */
  send(bytes: Buffer): Promise<void>;
  /** Interrupts the cell that runs, as a terminal does. Never rejects. */
  interrupt(): Promise<void>;
}

/** The way to a script that runs. */
export interface ScriptPort {
  /** Sends a message to the script. Resolves once it is on its way, or nobody is there to read it. Never rejects. */
  send(message: Buffer): Promise<void>;
  /** The time that the script still has, in milliseconds. */
  leftMs(): number;
}

/** The bounds that ended a script. */
export const ScriptLimit = {
  Time: "time",
  Memory: "memory",
  Processes: "processes",
} as const;
export type ScriptLimit = (typeof ScriptLimit)[keyof typeof ScriptLimit];

/** The outcome of a script that ran. */
export interface ScriptOutcome {
  /** At most as many bytes as are kept; bytes that are no UTF-8 are replaced. */
  readonly stdout: string;
  readonly stderr: string;
  /** How many bytes came after those that are kept. */
  readonly droppedBytes: { readonly stdout: number; readonly stderr: number };
  /** Null if a signal or a limit ended the script. */
  readonly exitCode: number | null;
  /** Such as SIGSEGV. */
  readonly signal: string | null;
  readonly limit: ScriptLimit | null;
  /** Messages that another process than the script's first had sent: none was taken. */
  readonly strangers: number;
  /** What the script has left in its folder `out` and could not be taken: links, folders, and what was too much. */
  readonly passedFiles: number;
  /** What it shows, as its own process wrote it (`shown.py`): any bytes. @default nothing */
  readonly shown?: Buffer | undefined;
  /** How long it might run: less than its job says where its call had not the time. */
  readonly timeoutMs: number;
  readonly durations: {
    /** The time from the job's arrival at the runner to a sandbox for it. */
    readonly waitMs: number;
    /** From the script's first line to its end. */
    readonly runMs: number;
  };
  /** The sandbox was there before the job. */
  readonly isWarm: boolean;
}

/** The end of a run, and whether an earlier process may have begun it. */
export interface RunScriptOptions {
  /**
   * Ends the script with all that it has started. A reason that is no ToolError means that this process stops: on a
   * resumable runner the script goes on, for a process that takes the job up.
   */
  readonly signal: AbortSignal;
  /**
   * When an outcome is of no use any more, on the clock of `performance.now()`, whatever was waited for. The script has
   * what is left when it begins, less what the way of its outcome takes: what it prints by then is not lost.
   */
  readonly deadline: number;
  /** The job may have been given to a runner before: it is looked for, and taken up where it is. @default false */
  readonly mayHaveBegun?: boolean | undefined;
  /**
   * Receives what the script prints, while it prints: all kept bytes of both streams, and for longer output now and then
   * its present end (`isLater`). Must not throw.
   */
  readonly onOutput?: ((bytes: Buffer, isLater: boolean) => void) | undefined;
}

/** True if a script with this signal goes on for a later manager of its job. */
export function goesOn({ isResumable }: Pick<ScriptRunner, "isResumable">, { aborted, reason }: AbortSignal): boolean {
  return isResumable && aborted && !(reason instanceof ToolError);
}

/**
 * Runs Python scripts, each in a sandbox of its own. A sandbox has no network, no credentials and only its share of the
 * machine; it is removed after the script. Disposal ends the running scripts. Where the runner is resumable, it leaves
 * them to the next manager of the job.
 */
export interface ScriptRunner extends AsyncDisposable {
  /** Such as "local", for people. */
  readonly kind: string;
  /**
   * True if it takes up a job that another process began, and never begins it twice: a call that was cut off may run
   * again.
   */
  readonly isResumable: boolean;
  /** True if scripts may have files here. @default false */
  readonly carriesFiles?: boolean | undefined;
  /** True if its sandboxes may stay for hours, and take cells. @default false */
  readonly lasts?: boolean | undefined;
  /**
   * Runs a job. A script that fails has an outcome too; only what is not its doing is thrown.
   * @throws {ToolError} `overloaded` if there is no sandbox in time, `unavailable` if there can be none now,
   * `execution_failed` with `details.reason` for a sandbox that broke
   */
  run(job: ScriptJob, options: RunScriptOptions): Promise<ScriptOutcome>;
}
