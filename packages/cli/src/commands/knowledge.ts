import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { lstat, rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { counted } from "@rockbot/contracts";
import {
  ImportError,
  itemLine,
  type KnowledgeStore,
  type KnowledgeToolsConfig,
  OtherOwnerError,
  openStore,
  readItems,
} from "@rockbot/knowledge-tools";
import { StoreUnavailableError } from "@rockbot/records";
import { serviceNamed } from "@rockbot/services";
import { CommandError } from "../command-error.ts";
import { UsageError } from "../usage-error.ts";

export interface ImportOptions {
  readonly owner: string;
  readonly space: string;
  readonly untrusted?: string;
}

/** The word for a space that nobody but the owner reads, as in knowledge_save. */
const PRIVATE = "private";

/** `rockbot knowledge import`: all items of a folder or a file, or none. */
export async function importKnowledge(path: string, { owner, space, untrusted }: ImportOptions): Promise<void> {
  const faults = [
    ...(/^[A-Za-z0-9_-]{1,64}$/.test(owner)
      ? []
      : [`--owner: expected the name of a caller, got ${JSON.stringify(owner)}`]),
    ...(/^[a-z0-9][a-z0-9-]{0,38}$/.test(space)
      ? []
      : [`--space: expected 1 to 39 of a-z, 0-9 and -, got ${JSON.stringify(space)}`]),
  ];
  if (faults.length > 0) throw new UsageError(faults);
  await withStore(async (store, { kinds }) => {
    const items = readItems(path, {
      owner,
      space: space === PRIVATE ? undefined : space,
      origin: untrusted,
      kinds,
      at: Date.now(),
    });
    const { created, changed, unchanged } = await store.save(items);
    console.error(
      `Imported ${path} into ${store.where}: ${created} new, ${changed} changed, ${unchanged} as they were`,
    );
  });
}

/** `rockbot knowledge export`: all items, one JSON object on each line. */
export async function exportKnowledge(file: string | undefined): Promise<void> {
  await withStore(async (store) => {
    let count = 0;
    async function* lines(): AsyncGenerator<string> {
      for await (const item of store.all()) {
        yield `${itemLine(item)}\n`;
        count++;
      }
    }
    if (file === undefined || file === "-") {
      for await (const line of lines()) if (!process.stdout.write(line)) await once(process.stdout, "drain");
    } else await writeWhole(file, lines());
    console.error(`Exported ${counted(count, "item")} of ${store.where}`);
  });
}

/**
 * A backup that breaks off does not take the place of a whole one. What is no file, such as a device, is written to.
 * @throws {CommandError}
 */
async function writeWhole(file: string, lines: AsyncIterable<string>): Promise<void> {
  const before = await lstat(file).catch(() => undefined);
  const isReplaced = before === undefined || before.isFile();
  const path = isReplaced ? `${file}.${randomBytes(6).toString("hex")}` : file;
  try {
    await pipeline(lines, createWriteStream(path, { mode: 0o600, flags: isReplaced ? "wx" : "w", flush: isReplaced }));
    if (isReplaced) await rename(path, file);
  } catch (error) {
    if (isReplaced) await rm(path, { force: true });
    const { code, syscall } = error as NodeJS.ErrnoException;
    throw code === undefined || syscall === undefined
      ? error
      : new CommandError(`Cannot write ${file}: ${systemWords[code] ?? code}`);
  }
}

const systemWords: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full (ENOSPC)",
  ENOENT: "there is no such folder (ENOENT)",
  EACCES: "you may not write there (EACCES)",
};

/**
 * The database is that of the service's settings: the same variables name it.
 * @throws {CommandError} in words for the user
 */
async function withStore(
  work: (store: KnowledgeStore, config: Readonly<KnowledgeToolsConfig>) => Promise<void>,
): Promise<void> {
  const load = await serviceNamed("knowledge-tools").loader();
  const config = load({ env: process.env });
  try {
    await using store = await openStore(config, async (...to) =>
      (await import("@rockbot/knowledge-tools/postgres")).connectPostgresStore(...to),
    );
    await work(store, config);
  } catch (error) {
    if (error instanceof StoreUnavailableError || error instanceof ImportError || error instanceof OtherOwnerError)
      throw new CommandError(error.message);
    throw error;
  }
}
