import type { Semaphore } from "@rockbot/base";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { EntryError, type EntryKind, type Folder } from "./folder.ts";
import { shown, type WorkspacePath, workspacePath } from "./workspace-path.ts";
import type { Root, WorkspaceRoots } from "./workspace-roots.ts";

/** What one caller sees of the roots: its files by their paths. */
export class Workspace {
  readonly roots: readonly Root[];
  readonly #all: WorkspaceRoots;
  readonly #caller: string;

  /** @throws {ToolError} `denied` if the caller has no root */
  constructor(all: WorkspaceRoots, caller: string) {
    this.roots = all.of(caller);
    this.#all = all;
    this.#caller = caller;
  }

  get changes(): Semaphore {
    return this.#all.changes;
  }

  /** @throws {ToolError} in words, if it leads out by its form */
  path(text: string): WorkspacePath {
    return workspacePath(text, this.roots);
  }

  openRoot(root: Root): Promise<Folder> {
    return this.#all.open(root, this.#caller);
  }

  /** Opens the folder of that path, name by name. @throws {ToolError} in words */
  async openFolder(path: WorkspacePath, { isMade = false }: { readonly isMade?: boolean } = {}): Promise<Folder> {
    return await inWords(path, "a folder", () => this.#walk(path.root, path.names, isMade));
  }

  /**
   * The same for the folder of a file, with the file's name.
   * @throws {ToolError} in words, also if the path names no file
   */
  async openFolderOf(
    path: WorkspacePath,
    options?: { readonly isMade?: boolean },
  ): Promise<{ readonly folder: Folder; readonly name: string }> {
    const name = path.names.at(-1);
    if (name === undefined) throw failed(path, "it is a root, not a file. Name a file in it");
    return {
      folder: await inWords(path, "a file", () =>
        this.#walk(path.root, path.names.slice(0, -1), options?.isMade ?? false),
      ),
      name,
    };
  }

  /**
   * Checks that there is a file or a folder of that path, before a program opens it.
   * @throws {ToolError} in words, if there is neither
   */
  async check(path: WorkspacePath): Promise<void> {
    const name = path.names.at(-1);
    if (name === undefined) return;
    await using folder = await inWords(path, "a folder", () => this.#walk(path.root, path.names.slice(0, -1), false));
    await inWords(path, "a file", async () => {
      const isThere = await folder.stateOf(name).catch((error: unknown) => {
        if (error instanceof EntryError && error.kind === "folder") return true;
        throw error;
      });
      if (isThere === undefined) throw new EntryError(undefined);
    });
  }

  async #walk(root: Root, names: readonly string[], isMade: boolean): Promise<Folder> {
    let folder = await this.openRoot(root);
    for (const name of names) {
      await using outer = folder;
      folder = isMade ? await outer.folderOrNew(name) : await outer.folder(name);
    }
    return folder;
  }
}

/** @throws {ToolError} `denied` if no tool may write there */
export function checkWritable(path: WorkspacePath): void {
  if (path.root.isWritable) return;
  throw new ToolError(
    ToolErrorCode.Denied,
    `Cannot write ${shown(path.text)}: the root ${path.root.name} is for reading only.`,
    {
      details: { reason: "root" },
    },
  );
}

const wordsOf: Readonly<Record<EntryKind, string>> = {
  file: "a file",
  folder: "a folder",
  link: "a symlink, which is never followed",
  other: "a device, a FIFO or a socket, which is never opened",
  mount: "on another mount, which is never opened",
};

const systemWords: Readonly<Record<string, string>> = {
  EACCES: "the service may not open it. An operator may change its rights",
  EPERM: "the service may not change it. An operator may change its rights",
  EROFS: "the file system is for reading only",
  ENOSPC: "the disk is full. Remove something, or ask the operator",
  EDQUOT: "the quota of the disk is used up. Remove something, or ask the operator",
  EMFILE: "the service has too many files open. Try again later",
  ENAMETOOLONG: "a name in it is too long",
};

/** Runs what opens or changes a path; errors of the system become words for a model. */
export async function inWords<T>(path: WorkspacePath, wanted: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ToolError) throw error;
    if (error instanceof EntryError) {
      if (error.kind === undefined)
        throw failed(path, "there is nothing of that name. See what there is with list_files");
      const isWay = error.kind === "file" || error.kind === "folder";
      const found = wordsOf[error.kind];
      const words =
        found === wanted
          ? `it leads through ${found}, where nothing lies`
          : `it is, or leads through, ${found}${isWay ? `, and not ${wanted}` : ""}`;
      throw failed(path, words, !isWay);
    }
    const { code } = error as NodeJS.ErrnoException;
    const words = code === undefined ? undefined : systemWords[code];
    if (code === undefined) throw error;
    throw new ToolError(
      ToolErrorCode.ExecutionFailed,
      `Cannot open ${shown(path.text)}: ${words ?? `the system says ${code}`}.`,
      { cause: error },
    );
  }
}

/** A path that cannot be used as it was asked for. */
function failed({ text }: Pick<WorkspacePath, "text">, reason: string, isDenied = false): ToolError {
  return isDenied
    ? new ToolError(ToolErrorCode.Denied, `Cannot open ${shown(text)}: ${reason}.`, { details: { reason: "path" } })
    : new ToolError(ToolErrorCode.ExecutionFailed, `Cannot open ${shown(text)}: ${reason}.`);
}
