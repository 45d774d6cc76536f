import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Logger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { enterSource } from "../generated/enter.ts";
import { supervisorSource } from "../generated/supervisor.ts";
import { runJob } from "../job/run-job.ts";
import type { MakeSandboxOptions, Sandbox, SandboxMaker } from "../sandbox.ts";
import { defaultSandboxLimits, type SandboxLimits } from "../sandbox-limits.ts";
import { supervisorCommand } from "../supervisor/supervisor-command.ts";
import { bubblewrap } from "./bubblewrap.ts";
import { type Cgroups, findCgroups } from "./cgroup.ts";
import { compilePrograms } from "./compile-programs.ts";
import { findPython, type Python } from "./find-python.ts";
import { startLocalSandbox } from "./local-sandbox.ts";
import { type SandboxFolder, sandboxTree, withFolders } from "./sandbox-tree.ts";
import { unshare } from "./unshare.ts";
import type { Way } from "./way.ts";

/** The limits of sandboxes on this machine, and where it reports. */
export interface LocalMakerOptions {
  readonly log: Logger;
  /** @default defaultSandboxLimits */
  readonly limits?: SandboxLimits | undefined;
  /** Name or path of an interpreter. @default python3 */
  readonly python?: string | undefined;
  /** Where programs are looked for, as the variable PATH has it. @default /usr/local/bin:/usr/bin:/bin */
  readonly path?: string | undefined;
  /** Modules to import before there is a job, besides those of the standard library. */
  readonly preload?: readonly string[] | undefined;
  /** Where layers of packages lie; it must exist. @default none */
  readonly packagesFolder?: string | undefined;
  /** What runs first in a sandbox, given the interpreter's path, in place of the supervisor. */
  readonly command?: ((python: string) => readonly string[]) | undefined;
  /** The ways to make walls, in the order of trial. @default bubblewrap, unshare */
  readonly ways?: readonly Way[] | undefined;
  /**
   * Runs scripts without walls: they can do what this process can. Where this is set, no walls are tried.
   * @default false
   */
  readonly isUnsafe?: boolean | undefined;
  /** True if this process runs in a cluster, where nothing runs without walls. @default false */
  readonly isInCluster?: boolean | undefined;
  /** The cgroups that it may use. @default those that trial finds */
  readonly cgroups?: Cgroups | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What one sandbox of this machine has that others have not. */
export interface MakeLocalSandboxOptions extends MakeSandboxOptions {
  /** What it sees besides programs. It may have other mounts in it, which the sandbox sees, too. @default nothing */
  readonly folders?: readonly SandboxFolder[] | undefined;
  /** Whose rights it has where this process is root: the owner of what it writes to. @default nobody's */
  readonly user?: number | undefined;
}

/** Makes sandboxes of processes of this machine. */
export interface LocalSandboxMaker extends SandboxMaker {
  make(options: MakeLocalSandboxOptions): Promise<Sandbox>;
}

/** The ways in which processes are isolated on this machine, by name. */
export const localWays = { bubblewrap, unshare } satisfies Record<string, Way>;

/**
 * Makes sandboxes of processes of this machine, in namespaces of their own. Which way there is found out by trial: one
 * that does not hold a script that looks for a gap is not used.
 * @throws {ToolError} `unavailable`, if this machine has no Python or gives no walls; it says what is missing, and what
 * to do
 */
export async function openLocalMaker(options: LocalMakerOptions): Promise<LocalSandboxMaker> {
  const { log, isUnsafe = false, isInCluster = false, path = "/usr/local/bin:/usr/bin:/bin" } = options;
  if (isUnsafe && isInCluster)
    throw cannot("scripts without a sandbox are never run in a cluster. Leave --unsafe-local-scripts out");
  const python = await findPython({ python: options.python, path });
  if (python === undefined)
    throw cannot(`there is no Python 3.9 or newer called ${options.python ?? "python3"}. Install it`);
  if (isUnsafe) {
    log.warn(
      {},
      "scripts run WITHOUT a sandbox. Each can read and change what this process can, and reach every network. For development only",
    );
    return unsafeMaker(python, { ...options, path });
  }
  const faults: string[] = [];
  for (const way of options.ways ?? [bubblewrap, unshare]) {
    const maker = await walledMaker(way, python, { ...options, command: undefined, path });
    const fault = await trial(maker, options.signal);
    if (fault === undefined) {
      if (options.command !== undefined) return await walledMaker(way, python, { ...options, path });
      for (const bound of maker.notHeld) log.warn({ bound }, "this machine cannot enforce a limit on scripts");
      return maker;
    }
    faults.push(`${way.name}: ${fault}`);
  }
  throw cannot(
    `this machine gives no sandbox (${faults.join("; ")}). Install bubblewrap, and let users make namespaces (in a container: --security-opt seccomp=unconfined --security-opt systempaths=unconfined, or use the container runner); for development only, --unsafe-local-scripts does without`,
  );
}

async function walledMaker(
  way: Way,
  python: Python,
  options: LocalMakerOptions & { readonly path: string },
): Promise<LocalMaker> {
  const { limits = defaultSandboxLimits, preload, packagesFolder, path } = options;
  const cgroups = options.cgroups ?? (await findCgroups(limits));
  const isMemoryHeld = cgroups.held.has("memory");
  const [enter = [], program] = await compilePrograms(python, [enterSource, supervisorSource]);
  const inside =
    options.command?.(python.executable) ??
    supervisorCommand(python.executable, limits, { preload, isMemoryHeld, program });
  const isRoot = process.getuid?.() === 0;
  const tree = await sandboxTree(python, packagesFolder);
  const walls = { python, enter, limits, command: inside, hasSharedZero: isMemoryHeld };
  const start = async ({ signal, folders = [], user }: MakeLocalSandboxOptions) => {
    if (user === 0) throw new RangeError("no sandbox has root's rights");
    const command = way.command({ ...walls, user, tree: withFolders(tree, folders) }, isRoot);
    return await startLocalSandbox(command, { signal, path, cgroup: await cgroups.make() });
  };
  return new LocalMaker("local", start, notHeldBy(cgroups));
}

/** The number of processes is held without cgroups, too. */
function notHeldBy({ held }: Cgroups): readonly string[] {
  const counted =
    "memory is counted up to 40 times a second instead, so that a script may have more for a moment, what the kernel holds for its sockets is not counted, and it may have no shared anonymous memory";
  const free = "processors are not held: a script may use all of them for as long as it may run";
  const missing = [...(held.has("memory") ? [] : [counted]), ...(held.has("processors") ? [] : [free])];
  return missing.map(
    (words) => `${words}. The container runner holds it, and so does this one where it may make cgroups`,
  );
}

function unsafeMaker(
  python: Python,
  {
    limits = defaultSandboxLimits,
    preload,
    packagesFolder,
    command,
    path,
  }: LocalMakerOptions & { readonly path: string },
): LocalSandboxMaker {
  return new LocalMaker("unsafe", async ({ signal, folders = [] }) => {
    if (folders.length > 0) throw new RangeError("without walls there is nothing to see a folder through");
    const folder = await mkdtemp(join(tmpdir(), "rockbot-script-"));
    const clean = (): Promise<void> => rm(folder, { recursive: true, force: true });
    const inside =
      command?.(python.executable) ?? supervisorCommand(python.executable, limits, { preload, folder, packagesFolder });
    return await startLocalSandbox(inside, { signal, path, clean });
  });
}

class LocalMaker implements LocalSandboxMaker {
  readonly kind: string;
  readonly carriesFiles = true;
  readonly lasts = true;
  readonly notHeld: readonly string[];
  readonly #start: (options: MakeLocalSandboxOptions) => Promise<Sandbox>;
  readonly #sandboxes = new Set<Sandbox>();

  constructor(
    kind: string,
    start: (options: MakeLocalSandboxOptions) => Promise<Sandbox>,
    notHeld: readonly string[] = [],
  ) {
    this.kind = kind;
    this.notHeld = notHeld;
    this.#start = start;
  }

  async make(options: MakeLocalSandboxOptions): Promise<Sandbox> {
    options.signal.throwIfAborted();
    const sandbox = await this.#start(options).catch((error: Error) => {
      options.signal.throwIfAborted();
      throw new ToolError(ToolErrorCode.Unavailable, "Cannot make a sandbox for a script now. Try again", {
        cause: error,
      });
    });
    this.#sandboxes.add(sandbox);
    void sandbox.gone.then(() => this.#sandboxes.delete(sandbox));
    return sandbox;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#sandboxes].map((sandbox) => sandbox[Symbol.asyncDispose]()));
  }
}

/** Prints what is open that must be shut. */
const LOOK_FOR_GAPS = `
import os, socket
gaps = []
if [name for _, name in socket.if_nameindex()] != ["lo"]: gaps.append("it has a network")
if os.getpid() > 100: gaps.append("it sees the machine's processes")
if os.getuid() == 0: gaps.append("it runs as root")
for path in ("/", "/usr/bin", "/dev"):
    if os.access(path, os.W_OK): gaps.append(path + " can be written to")
for name in ("/home", "/etc/passwd", "/etc/shadow", "/var"):
    if os.path.exists(name): gaps.append("it sees the machine's files")
print("; ".join(gaps))
`;

/** @returns what is wrong with the sandboxes of a maker, if anything is */
async function trial(maker: SandboxMaker, signal = AbortSignal.timeout(60_000)): Promise<string | undefined> {
  try {
    await using sandbox = await maker.make({ signal });
    const job = { id: "trial", script: LOOK_FOR_GAPS, timeoutMs: 30_000 };
    const { stdout, stderr, exitCode } = await runJob(sandbox, job, { signal, keepBytes: 4_096 });
    return exitCode === 0 ? stdout.trim() || undefined : `a script failed in it: ${lastLine(stderr)}`;
  } catch (error) {
    signal.throwIfAborted();
    const { cause, message } = error as Error;
    return cause instanceof Error ? cause.message : message;
  }
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}

function cannot(reason: string): ToolError {
  return new ToolError(ToolErrorCode.Unavailable, `Cannot run scripts: ${reason}`, { isRetryable: false });
}
