import { createHash } from "node:crypto";
import { readFile, realpath, stat } from "node:fs/promises";
import { createSemaphore, type Semaphore } from "@rockbot/base";
import { ConfigError, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { PolicyHolder, Readers } from "@rockbot/policy";
import type { WorkspaceToolsConfig } from "../generated/config.ts";
import { Folder } from "./folder.ts";

/** A folder that tools open. */
export interface Root {
  /** The first name of paths in it. */
  readonly name: string;
  /** Where it lies, without any symlink on the way. */
  readonly folder: string;
  readonly isWritable: boolean;
  readonly isPerCaller: boolean;
}

/** The roots of a service. */
export interface WorkspaceRoots {
  readonly all: readonly Root[];
  /** The roots that the policy lets the caller see. @throws {ToolError} `denied` if there are none */
  of(caller: string): readonly Root[];
  /** What the policy lets the caller's commands reach over the network, as `host:port`. */
  hostsOf(caller: string): readonly string[];
  /** Lets one change of files in this process begin once the one before has ended: no edit is lost to another. */
  readonly changes: Semaphore;
  /** Opens a root for the caller: where each has a folder of its own, that one, which is made if it is missing. */
  open(root: Root, caller: string): Promise<Folder>;
}

/**
 * Looks at the folders of the settings, and holds on to where they are.
 * @throws {ToolError} `unavailable` elsewhere than on Linux, and where the settings name none
 * @throws {ConfigError} with all faults: no folder, one in another
 */
export async function workspaceRoots(
  { workspaceRoots: configured }: Pick<WorkspaceToolsConfig, "workspaceRoots">,
  policy: PolicyHolder<Readers<"roots" | "hosts">>,
): Promise<WorkspaceRoots> {
  if (process.platform !== "linux") {
    throw new ToolError(
      ToolErrorCode.Unavailable,
      `Cannot open a workspace on ${process.platform}: only Linux has the file descriptors that keep paths inside it. Run workspace-tools on Linux, or in a container.`,
      { isRetryable: false },
    );
  }
  if (configured === undefined) {
    throw new ToolError(
      ToolErrorCode.Unavailable,
      'Cannot serve a workspace: it has no folder. Name one: WORKSPACE_ROOTS=\'{"notes":{"folder":"/srv/notes"}}\'',
      { isRetryable: false },
    );
  }
  const all = await rootsOf(configured);
  return {
    all,
    changes: createSemaphore(1),
    hostsOf: (caller) => policy.current().hostsOf(caller),
    of(caller) {
      const names = policy.current().rootsOf(caller);
      const own = names === undefined ? all : all.filter(({ name }) => names.includes(name));
      if (own.length === 0) {
        throw new ToolError(
          ToolErrorCode.Denied,
          `"${caller}" has no workspace here: the policy names none of its roots for it. An operator adds names to \`roots\` of the policy.`,
          { details: { reason: "roots" } },
        );
      }
      return own;
    },
    async open({ folder: path, isPerCaller }, caller) {
      const root = await Folder.root(path);
      if (!isPerCaller) return root;
      await using _root = root;
      return await root.folderOrNew(folderOf(caller), { mode: 0o700 });
    },
  };
}

/** @throws {ConfigError} with all faults of theirs */
async function rootsOf(configured: NonNullable<WorkspaceToolsConfig["workspaceRoots"]>): Promise<readonly Root[]> {
  const faults: string[] = [];
  const found = await Promise.all(
    Object.entries(configured).map(async ([name, setting]): Promise<Root | undefined> => {
      if (setting === undefined) return undefined;
      const { folder, writable = false, perCaller = false } = setting;
      try {
        const real = await realpath(folder);
        await (await Folder.root(real))[Symbol.asyncDispose]();
        return { name, folder: real, isWritable: writable, isPerCaller: perCaller };
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        faults.push(
          `workspaceRoots.${name}: "${folder}" is not a folder that can be opened (${code ?? message}). Make it, or name another`,
        );
        return undefined;
      }
    }),
  );
  const all = found.filter((root) => root !== undefined);
  for (const inner of all)
    for (const outer of all)
      if (inner !== outer && `${inner.folder}/`.startsWith(`${outer.folder === "/" ? "" : outer.folder}/`))
        faults.push(
          `workspaceRoots.${inner.name}: it lies in ${outer.name}, whose files tools may change under it. Name folders apart`,
        );
  if (faults.length > 0) throw new ConfigError(faults);
  return all;
}

/** A name that says whose it is, and that no two callers share, on any file system. */
function folderOf(caller: string): string {
  const hash = createHash("sha256").update(caller).digest("hex").slice(0, 16);
  return `${caller.replaceAll(/[^A-Za-z0-9_-]+/g, "_").slice(0, 40)}-${hash}`;
}

/** The mounts below a folder, which a program that runs in it would see. */
export async function mountsBelow(folder: string): Promise<readonly string[]> {
  const mounts = (await readFile("/proc/self/mountinfo", "utf8"))
    .split("\n")
    .map((line) =>
      (line.split(" ")[4] ?? "").replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
        String.fromCharCode(Number.parseInt(octal, 8)),
      ),
    );
  return mounts.filter((mount) => mount.startsWith(`${folder}/`));
}

/** Tells whether the path is a file that can be run. */
export const isThere = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isFile() ?? false;
