import { randomBytes } from "node:crypto";
import { createSemaphore, type Semaphore } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { GATE_CERTIFICATES, GATE_SOCKET, openGateFolder } from "@rockbot/edge/gate";
import {
  type JobOutcome,
  type LocalSandboxMaker,
  openLocalMaker,
  programScript,
  runJob,
  type SandboxFolder,
  type SandboxLimits,
  UNPRIVILEGED_USER,
} from "@rockbot/sandbox";
import type { Workspace } from "../files/workspace.ts";
import { mountsBelow, type Root } from "../files/workspace-roots.ts";
import type { WorkspaceToolsConfig } from "../generated/config.ts";

/** What is run, and what it may see. */
export interface ProgramRun {
  /** The path of a program in the sandbox, and its arguments. */
  readonly command: readonly string[];
  readonly workspace: Workspace;
  /** True if it may write to writable roots. */
  readonly mayWrite: boolean;
  /** What it may reach over the network, as `host:port`. @default nothing */
  readonly hosts?: readonly string[] | undefined;
  /** What it sees besides the roots. */
  readonly tools?: readonly SandboxFolder[] | undefined;
  readonly timeoutMs: number;
  /** True to send stderr to stdout, in the order in which it is written. */
  readonly isOneStream: boolean;
  readonly keepBytes: number;
  readonly tailBytes?: number | undefined;
  readonly onOutput?: ((bytes: Buffer, isLater: boolean) => void) | undefined;
  readonly signal: AbortSignal;
  /** When its outcome is of no use any more, on the clock of `performance.now()`. */
  readonly deadline: number;
}

/** Where roots lie in a sandbox, and where a program starts. */
export const WORKSPACE_FOLDER = "/workspace";

/** Where the way out of a program that has one lies in its sandbox. */
const GATE_FOLDER = "/gate";
/**
 * Bounds of what goes through: connections at a time, and the longest silence and all bytes that come of one command.
 */
const GATE = { maxConnections: 32, idleMs: 60_000, maxBytes: 1024 ** 3, mayHaveEffects: true };

/** From a program's end to its answer. */
const ANSWER_MS = 500;
const MIB = 1024 * 1024;
/** Files and folders of /tmp for each MiB. */
const FILES_PER_MIB = 150;

type Limits = Pick<WorkspaceToolsConfig, "memoryMiB" | "processes" | "processors" | "storageMiB" | "shells">;

export interface OpenProgramsOptions {
  readonly log: Logger;
  /** Where programs of this machine are looked for, as the variable PATH has it. */
  readonly path: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Runs programs where only a caller's roots are mounted: each in a sandbox of its own, which nothing survives. */
export class Programs implements AsyncDisposable {
  readonly #maker: LocalSandboxMaker;
  readonly #places: Semaphore;

  private constructor(maker: LocalSandboxMaker, places: number) {
    this.#maker = maker;
    this.#places = createSemaphore(places);
  }

  /** @throws {ToolError} `unavailable`, in words for an operator, if this machine gives no sandbox */
  static async open(
    { shells, ...limits }: Readonly<Limits>,
    { log, path, signal }: OpenProgramsOptions,
  ): Promise<Programs> {
    return new Programs(await openLocalMaker({ log, path, signal, limits: limitsOf(limits) }), shells);
  }

  /** Which of its bounds this machine does not hold, in words for the operator. */
  get notHeld(): readonly string[] {
    return this.#maker.notHeld ?? [];
  }

  /**
   * Runs a program to its end. It waits for a place first.
   * @throws {ToolError} if it cannot be run, or is cut off; the signal's reason
   */
  async run({
    command,
    workspace,
    mayWrite,
    hosts = [],
    tools = [],
    timeoutMs,
    deadline,
    signal,
    isOneStream,
    ...options
  }: ProgramRun): Promise<JobOutcome> {
    using _place = await this.#places.acquire(signal);
    const { folders, user } = await foldersOf(workspace, mayWrite);
    await using gate =
      hosts.length === 0
        ? undefined
        : await openGateFolder({ ...GATE, hosts: new Set(hosts), user: user ?? UNPRIVILEGED_USER });
    const gates = gate === undefined ? [] : [{ outside: gate.path, inside: GATE_FOLDER, isWritable: false }];
    await using sandbox = await this.#maker.make({ signal, folders: [...folders, ...tools, ...gates], user });
    const way =
      gate === undefined
        ? undefined
        : { socket: `${GATE_FOLDER}/${GATE_SOCKET}`, certificates: `${GATE_FOLDER}/${GATE_CERTIFICATES}` };
    const script = programScript(command, { folder: WORKSPACE_FOLDER, isOneStream, way });
    const endBy = deadline - Math.min(ANSWER_MS, Math.max(0, deadline - performance.now()) / 4);
    return await runJob(
      sandbox,
      { id: randomBytes(16).toString("hex"), script, timeoutMs },
      { ...options, signal, endBy },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#maker[Symbol.asyncDispose]();
  }
}

/** The caller's roots as a sandbox mounts them, and the owner of what it writes to, who is never root. */
async function foldersOf(
  workspace: Workspace,
  mayWrite: boolean,
): Promise<{ readonly folders: readonly SandboxFolder[]; readonly user: number | undefined }> {
  const folders: SandboxFolder[] = [];
  let user: number | undefined;
  for (const root of workspace.roots) {
    await using folder = await workspace.openRoot(root);
    const outside = await folder.where();
    await checkMounts(root, outside);
    folders.push({ outside, inside: `${WORKSPACE_FOLDER}/${root.name}`, isWritable: mayWrite && root.isWritable });
    if (root.isWritable) user ??= (await folder.owner()) || undefined;
  }
  return { folders, user };
}

/** A program would see what is mounted in a root, which no file tool opens. */
async function checkMounts({ name }: Root, folder: string): Promise<void> {
  const [mount] = await mountsBelow(folder);
  if (mount === undefined) return;
  throw new ToolError(
    ToolErrorCode.Denied,
    `Nothing was run: in the root ${name} another file system is mounted, at ${JSON.stringify(mount.slice(folder.length + 1))}, which a program would see. An operator has to make a root of its own of it.`,
    { details: { reason: "path" } },
  );
}

const limitsOf = ({ memoryMiB, processes, processors, storageMiB }: Omit<Limits, "shells">): SandboxLimits => ({
  memoryBytes: memoryMiB * MIB,
  processes,
  processors,
  storageBytes: storageMiB * MIB,
  storageFiles: storageMiB * FILES_PER_MIB,
});
