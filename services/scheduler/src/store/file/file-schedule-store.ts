import { mkdir, readFile, rename, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { replaceFile, StoreUnavailableError, sweepTemporaries } from "@rockbot/records";
import { type BookContent, ScheduleBook } from "../schedule-book.ts";
import type { ScheduleStore, TaskChange, Usage } from "../schedule-store.ts";

const FORMAT = 1;

/** A store in a file. */
export interface FileScheduleStore extends ScheduleStore {
  /** Where a file that could not be read has been put aside. */
  readonly setAside: string | undefined;
}

/** How a store in a file is opened. */
export interface OpenFileScheduleStoreOptions {
  /** The clock, in Unix milliseconds. @default Date.now */
  readonly clock?: (() => number) | undefined;
}

/**
 * Keeps the tasks in one file of one process. A change is there once the new file is on disk under its name, so that a
 * crash leaves the old or the new one. A file that cannot be read is put aside, not overwritten. Where another process
 * writes the file, too, each change is refused.
 * @throws {StoreUnavailableError} if the file can be neither read nor put aside
 */
export async function openFileScheduleStore(
  file: string,
  { clock = Date.now }: OpenFileScheduleStoreOptions = {},
): Promise<FileScheduleStore> {
  await sweepTemporaries(dirname(file), `${basename(file)}.`);
  const { content, setAside } = await readOrSetAside(file, clock());
  const state = new ScheduleBook(content);
  let mark = await markOf(file);
  let isClosed = false;
  /** The file is written by one change after the other. */
  let writing: Promise<unknown> = Promise.resolve();

  const check = (): void => {
    if (isClosed) throw new StoreUnavailableError(`Cannot use the scheduled tasks of ${file}: the store is closed`);
  };
  const changed = <T>(
    change: () => { readonly outcome: T; undo(): void },
    isWritten: (outcome: T) => boolean,
  ): Promise<T> => {
    const written = writing.then(async () => {
      check();
      const { outcome, undo } = change();
      if (!isWritten(outcome)) return outcome;
      try {
        if ((await markOf(file)) !== mark)
          throw new StoreUnavailableError(
            `Cannot write the scheduled tasks: another process has changed ${file}. Give each its own file, or set REDIS_URL`,
          );
        await writeContent(file, state.content);
        mark = await markOf(file);
        return outcome;
      } catch (error) {
        undo();
        throw error;
      }
    });
    writing = written.catch(() => {});
    return written;
  };
  /** Waits for changes that are on their way, so that nobody sees one that is undone. */
  const seen = <T>(look: () => T): Promise<T> =>
    writing.then(() => {
      check();
      return look();
    });

  return {
    where: `the file ${file}`,
    isShared: false,
    setAside,
    now: async () => clock(),
    read: (key) => seen(() => state.read(key)),
    tasksOf: (caller) => seen(() => state.tasksOf(caller)),
    write: (change: TaskChange) =>
      changed(
        () => state.write(change),
        (outcome) => outcome === "written",
      ),
    look: (asked) => seen(() => state.look(asked, clock())),
    leave: (replica) => seen(() => state.leave(replica)),
    usage: (caller, day) => seen(() => state.usage(caller, day)),
    charge: (caller, day, tokens) =>
      changed(
        () => ({ outcome: state.charge(caller, day, tokens), undo: () => state.charge(caller, day, -tokens) }),
        () => true,
      ),
    async [Symbol.asyncDispose]() {
      await writing;
      isClosed = true;
    },
  };
}

async function readOrSetAside(
  file: string,
  now: number,
): Promise<{ readonly content: BookContent; readonly setAside: string | undefined }> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { content: {}, setAside: undefined };
    throw failed(`read the file ${file}`, error);
  }
  const content = contentOf(text);
  if (content !== undefined) return { content, setAside: undefined };
  const setAside = `${file}.unreadable-${now}`;
  await rename(file, setAside).catch((error: unknown) => {
    throw failed(`put the unreadable file ${file} aside`, error);
  });
  return { content: {}, setAside };
}

function contentOf(text: string): BookContent | undefined {
  try {
    const value = JSON.parse(text) as {
      readonly format?: unknown;
      readonly tasks?: unknown;
      readonly usages?: unknown;
    } | null;
    if (value?.format !== FORMAT || !isListOf(value.tasks, isTask) || !isListOf(value.usages, isUsage))
      return undefined;
    return { tasks: value.tasks as BookContent["tasks"], usages: value.usages as BookContent["usages"] };
  } catch {
    return undefined;
  }
}

const isListOf = (value: unknown, is: (each: unknown) => boolean): boolean => Array.isArray(value) && value.every(is);

/** Looks at what the code relies on without a further look. */
function isTask(value: unknown): boolean {
  const task = (value ?? {}) as Readonly<Record<string, unknown>>;
  const areTexts = ["key", "id", "caller", "sessionId", "name", "cron", "zone", "description"].every(
    (field) => typeof task[field] === "string",
  );
  const areNumbers = ["createdAt", "nextAt", "notBefore", "keptUntil"].every(
    (field) => task[field] === undefined || Number.isSafeInteger(task[field]),
  );
  const areLists = task["earlierRuns"] === undefined || isListOf(task["earlierRuns"], isObject);
  return (
    areTexts &&
    areNumbers &&
    areLists &&
    ["running", "lastRun", "lastSkip"].every((field) => task[field] === undefined || isObject(task[field]))
  );
}

function isUsage(value: unknown): boolean {
  if (!Array.isArray(value) || typeof value[0] !== "string" || !isObject(value[1])) return false;
  const { fires, tokens } = value[1] as unknown as Usage;
  return Number.isFinite(fires) && Number.isFinite(tokens);
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

async function writeContent(file: string, content: BookContent): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await replaceFile(file, `${JSON.stringify({ format: FORMAT, ...content }, undefined, 1)}\n`);
  } catch (error) {
    throw failed(`write the file ${file}`, error);
  }
}

/** Tells one state of the file from another. */
async function markOf(file: string): Promise<string> {
  try {
    const { ino, size, mtimeNs } = await stat(file, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "none";
    throw failed(`look at the file ${file}`, error);
  }
}

const failed = (what: string, error: unknown): StoreUnavailableError =>
  new StoreUnavailableError(`Cannot ${what}: ${(error as NodeJS.ErrnoException).code}`);
