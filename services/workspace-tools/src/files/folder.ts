import { randomBytes } from "node:crypto";
import { constants, type Dirent } from "node:fs";
import { type FileHandle, lstat, mkdir, open, opendir, readFile, readlink, rename, unlink } from "node:fs/promises";

/**
 * Opens a handle that may be asked about a file, without opening the file. Node has no name for it. A device, a FIFO or
 * a socket that is looked at like this notices nothing.
 */
const O_PATH = 0o10_000_000;
const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** What a name stands for. `mount`: something that is mounted there. */
export type EntryKind = "file" | "folder" | "link" | "other" | "mount";

/** A name does not stand for what is wanted. */
export class EntryError extends Error {
  override readonly name = "EntryError";
  /** What it stands for instead; undefined if there is no such name. */
  readonly kind: EntryKind | undefined;

  constructor(kind: EntryKind | undefined) {
    super(`it is ${kind ?? "nothing"}`);
    this.kind = kind;
  }
}

/** One moment of a file: if two are equal, nothing has changed it in between. */
export interface FileState {
  readonly mode: number;
  readonly size: number;
  /** Which file it is, its content's time and its own. */
  readonly mark: string;
}

/** One entry of a folder. */
export interface Entry {
  readonly name: string;
  readonly kind: EntryKind;
  /** The size of a file. */
  readonly bytes: number | null;
}

/**
 * A folder that is held by its descriptor, from which the way leads on by single names. Node has no `openat`:
 * `/proc/self/fd/N/NAME` is the same. The kernel goes from the descriptor straight to the folder that was opened,
 * wherever that lies by now, and looks up one name in it. A name that is a symlink is not followed, nor is a mount gone
 * into. So no change of any folder in between leads elsewhere.
 */
export class Folder implements AsyncDisposable {
  readonly #handle: FileHandle;
  /** The mount of the root, which all below it share. */
  readonly #mount: string;

  private constructor(handle: FileHandle, mount: string) {
    this.#handle = handle;
    this.#mount = mount;
  }

  /** Opens a root. @throws the system's error if the path is no folder */
  static async root(path: string): Promise<Folder> {
    const handle = await open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    try {
      return new Folder(handle, await mountOf(handle));
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Another handle of this very folder. */
  async again(): Promise<Folder> {
    return new Folder(await open(this.#path, O_PATH | O_DIRECTORY), this.#mount);
  }

  /** @throws {EntryError} if the name is no folder */
  async folder(name: string): Promise<Folder> {
    const handle = await this.#look(name, O_DIRECTORY);
    return new Folder(handle, this.#mount);
  }

  /**
   * Makes it if it is missing; it belongs to the owner of this folder.
   * @throws {EntryError} if the name is something else
   */
  async folderOrNew(name: string, { mode = 0o755 }: { readonly mode?: number } = {}): Promise<Folder> {
    try {
      return await this.folder(name);
    } catch (error) {
      if (!(error instanceof EntryError) || error.kind !== undefined) throw error;
    }
    await mkdir(this.#at(name), { mode }).catch(unless("EEXIST"));
    const made = await this.folder(name);
    try {
      await this.#giveTo(await open(made.#path, O_RDONLY | O_DIRECTORY));
      return made;
    } catch (error) {
      await made[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Opens a file for reading. @throws {EntryError} if the name is no file */
  async file(name: string): Promise<FileHandle> {
    const looked = await this.#look(name);
    try {
      if (!(await looked.stat()).isFile()) throw new EntryError(await this.#kindOf(looked));
      return await open(pathOf(looked), O_RDONLY | O_NONBLOCK | O_NOCTTY); // the file that was looked at, whatever has its name by now
    } finally {
      await looked.close();
    }
  }

  /** The state of a file; undefined if there is nothing of that name. @throws {EntryError} if the name is no file */
  async stateOf(name: string): Promise<FileState | undefined> {
    let looked: FileHandle;
    try {
      looked = await this.#look(name);
    } catch (error) {
      if (error instanceof EntryError && error.kind === undefined) return undefined;
      throw error;
    }
    try {
      const { mode, size, ino, mtimeNs, ctimeNs, dev } = await looked.stat({ bigint: true });
      const kind = await this.#kindOf(looked);
      if (kind !== "file") throw new EntryError(kind);
      return { mode: Number(mode & 0o777n), size: Number(size), mark: [dev, ino, size, mtimeNs, ctimeNs].join(" ") };
    } finally {
      await looked.close();
    }
  }

  /**
   * Puts a file there, whole or not at all: readers see the old or the new content, even if this process
   * is killed.
   * @param before what is there now, as the caller has seen it
   * @returns whether it has; not if something else is there by now
   */
  async replace(name: string, content: Uint8Array, before: FileState | undefined): Promise<boolean> {
    const temporary = `.rockbot-${randomBytes(9).toString("hex")}.part`;
    const handle = await open(this.#at(temporary), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600);
    try {
      try {
        await handle.writeFile(content);
        await this.#own(handle);
        await handle.chmod(before?.mode ?? 0o644);
        await handle.sync();
      } finally {
        await handle.close();
      }
      if ((await this.stateOf(name))?.mark !== before?.mark) {
        await unlink(this.#at(temporary));
        return false;
      }
      await rename(this.#at(temporary), this.#at(name));
      return true;
    } catch (error) {
      await unlink(this.#at(temporary)).catch(() => {});
      throw error;
    }
  }

  /** What lies in it, at most so many. */
  async entries(most: number): Promise<readonly Entry[]> {
    const found: Entry[] = [];
    for await (const entry of await opendir(this.#path)) {
      if (found.length === most) break;
      found.push({
        name: entry.name,
        kind: kindOfEntry(entry),
        bytes: entry.isFile() ? await this.#bytesOf(entry.name) : null,
      });
    }
    return found;
  }

  /** The number of the user that it belongs to. */
  async owner(): Promise<number> {
    return (await this.#handle.stat()).uid;
  }

  /** Where it lies now, by name. */
  where(): Promise<string> {
    return readlink(this.#path);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#handle.close();
  }

  get #path(): string {
    return pathOf(this.#handle);
  }

  #at(name: string): string {
    if (name === "" || name === "." || name === ".." || /[/\0]/.test(name))
      throw new RangeError(`Cannot open ${JSON.stringify(name)}: it is not a single name`);
    return `${this.#path}/${name}`;
  }

  /** A handle of what the name stands for, a symlink itself too, which is not opened. */
  async #look(name: string, flags = 0): Promise<FileHandle> {
    let handle: FileHandle;
    try {
      handle = await open(this.#at(name), O_PATH | O_NOFOLLOW | flags);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") throw new EntryError(undefined);
      if (code === "ENOTDIR" || code === "ELOOP") throw new EntryError(await this.#kindByName(name));
      throw error;
    }
    try {
      if ((await mountOf(handle)) !== this.#mount) throw new EntryError("mount");
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async #kindOf(handle: FileHandle): Promise<EntryKind> {
    return kindOfEntry(await handle.stat());
  }

  async #kindByName(name: string): Promise<EntryKind | undefined> {
    const found = await lstat(this.#at(name)).catch(unless("ENOENT"));
    return found === undefined ? undefined : kindOfEntry(found);
  }

  async #bytesOf(name: string): Promise<number | null> {
    const found = await lstat(this.#at(name)).catch(() => undefined); // it may be gone by now
    return found?.isFile() === true ? found.size : null;
  }

  async #giveTo(handle: FileHandle): Promise<void> {
    try {
      await this.#own(handle);
    } finally {
      await handle.close();
    }
  }

  /**
   * What root makes in somebody's folder is theirs, as if they had made it: their commands could not change it else.
   */
  async #own(handle: FileHandle): Promise<void> {
    if (process.getuid?.() !== 0) return;
    const { uid, gid } = await this.#handle.stat();
    await handle.chown(uid, gid);
  }
}

const pathOf = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;

/** The number of the mount that a handle came by, which differs for what is mounted from the same file system, too. */
async function mountOf({ fd }: FileHandle): Promise<string> {
  const [, mount] = /^mnt_id:\s*(\d+)$/m.exec(await readFile(`/proc/self/fdinfo/${fd}`, "utf8")) ?? [];
  if (mount === undefined) throw new Error("the kernel does not say which mount a file came by");
  return mount;
}

function kindOfEntry(entry: Pick<Dirent, "isFile" | "isDirectory" | "isSymbolicLink">): EntryKind {
  return entry.isFile() ? "file" : entry.isDirectory() ? "folder" : entry.isSymbolicLink() ? "link" : "other";
}

const unless =
  (code: string) =>
  (error: NodeJS.ErrnoException): undefined => {
    if (error.code !== code) throw error;
  };
