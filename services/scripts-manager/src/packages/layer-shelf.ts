import { randomUUID } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { PackageLayer } from "@rockbot/sandbox";

/** Nobody's name of a layer. Scripts of other users than the scripts manager's cannot look into it. */
const OWN = ".rockbot";

/** What was begun and not finished so long ago is nobody's any more. */
const ABANDONED_MS = 3600_000;

export interface ShelfBounds {
  /** The bound of all layers together; it is approximate. */
  readonly maxBytes: number;
  /**
   * A layer that was wanted so lately may be in use, here or in another process, and stays: longer than any script
   * runs, in milliseconds.
   */
  readonly keepMs: number;
}

/**
 * The folder of all layers, which may be shared with other processes on other machines: a layer appears whole or not at
 * all, and never changes. Beside the layers it remembers what came of earlier requests.
 */
export interface LayerShelf {
  /** What a request came to, if that was not longer ago than `maxAgeMs` and is still there. Counts as use. */
  recall(request: string, maxAgeMs: number): Promise<PackageLayer | undefined>;
  /** Notes what a request has come to. */
  remember(request: string, layer: PackageLayer): Promise<void>;
  /** Tells whether the layer exists. Counts as use. */
  has(key: string): Promise<boolean>;
  /** A new empty folder to fill; disposal removes it unless it has become a layer. */
  begin(): Promise<UnfinishedLayer>;
  /** Removes the layers that were not wanted for longest, until the rest is within bounds. @returns whether it is */
  tidy(): Promise<boolean>;
}

export interface UnfinishedLayer extends AsyncDisposable {
  readonly folder: string;
  /** Makes it a layer; one that another process has made meanwhile does as well. */
  finish(layer: PackageLayer, bytes: number): Promise<void>;
}

interface Note {
  readonly pinned: readonly string[];
  readonly bytes: number;
}

/** @throws {Error} with Node's code if the folder cannot be written */
export async function openLayerShelf(root: string, { maxBytes, keepMs }: ShelfBounds): Promise<LayerShelf> {
  const own = (...names: string[]) => join(root, OWN, ...names);
  await mkdir(root, { recursive: true });
  await chmod(root, 0o711); // a script that knows a layer's name may read it
  for (const name of ["", "requests", "notes", "unfinished"]) await mkdir(own(name), { recursive: true, mode: 0o700 });
  await removeAbandoned(own("unfinished"));

  const noteOf = (key: string): Promise<Note | undefined> => readJson<Note>(own("notes", key));

  async function has(key: string): Promise<boolean> {
    const now = new Date();
    return await utimes(own("notes", key), now, now).then(
      () => true,
      () => false,
    );
  }

  async function remove(key: string): Promise<void> {
    const doomed = own("unfinished", randomUUID());
    await rm(own("notes", key), { force: true }); // first, so that nobody takes a layer that is about to go
    await rename(join(root, key), doomed).catch(ignoreMissing);
    await rm(doomed, { recursive: true, force: true });
  }

  return {
    has,
    async recall(request, maxAgeMs) {
      const at = await stat(own("requests", request)).catch(() => undefined);
      if (at === undefined || Date.now() - at.mtimeMs > maxAgeMs) return undefined;
      const layer = await readJson<PackageLayer>(own("requests", request));
      return layer !== undefined && (await has(layer.key)) ? layer : undefined;
    },
    remember: (request, layer) => replace(own("requests", request), own("unfinished", randomUUID()), layer),
    async begin() {
      const folder = own("unfinished", randomUUID());
      await mkdir(folder, { mode: 0o755 });
      return {
        folder,
        async finish({ key, pinned }, bytes) {
          await rename(folder, join(root, key)).catch(ignoreThere);
          await replace(own("notes", key), own("unfinished", randomUUID()), { pinned, bytes } satisfies Note);
        },
        [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
      };
    },
    async tidy() {
      const layers = [];
      for (const key of await readdir(own("notes"))) {
        const [at, note] = [await stat(own("notes", key)).catch(() => undefined), await noteOf(key)];
        if (at !== undefined && note !== undefined) layers.push({ key, bytes: note.bytes, usedAt: at.mtimeMs });
      }
      layers.sort((one, other) => one.usedAt - other.usedAt);
      let total = layers.reduce((sum, { bytes }) => sum + bytes, 0);
      for (const { key, bytes, usedAt } of layers) {
        if (total <= maxBytes || Date.now() - usedAt < keepMs) break;
        await remove(key);
        total -= bytes;
      }
      await removeForgotten(own("requests"), keepMs);
      return total <= maxBytes;
    },
  };
}

async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const at = await stat(join(folder, name)).catch(() => undefined);
    if (at !== undefined && Date.now() - at.mtimeMs > ABANDONED_MS)
      await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** At most this many requests are remembered: the newest. */
const MAX_REQUESTS = 10_000;

async function removeForgotten(folder: string, keepMs: number): Promise<void> {
  const names = await readdir(folder);
  if (names.length <= MAX_REQUESTS) return;
  for (const name of names) {
    const at = await stat(join(folder, name)).catch(() => undefined);
    if (at !== undefined && Date.now() - at.mtimeMs > keepMs) await rm(join(folder, name), { force: true });
  }
}

/** Who reads the file sees what was there or what is there now, never a part. */
async function replace(file: string, temporary: string, content: object): Promise<void> {
  await writeFile(temporary, JSON.stringify(content), { mode: 0o600 });
  await rename(temporary, file);
}

async function readJson<Content>(file: string): Promise<Content | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Content;
  } catch {
    return undefined;
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

/** A folder cannot take the place of one that is not empty. */
function ignoreThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
}
