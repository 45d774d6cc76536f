import { readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { canonicalJson } from "@rockbot/contracts";
import { replaceFile, StoreUnavailableError, sweepTemporaries } from "@rockbot/records";
import { recordOf, sizesOf, textOf, versionOf } from "./record-text.ts";
import { MAX_BYTES_PER_AGENT, MAX_RECORDS, noRoomFor, type TrustStore } from "./trust-store.ts";

const FORMAT = 1;

/**
 * Keeps the records in one file, such as `mcp.lock.json`, which people can read, compare and keep with the
 * configuration. Each operation reads the file anew, so that a person's change counts at once. It replaces the file as
 * a whole, so that a reader has the old or the new one, even after a crash. Processes that write at the same moment may undo each other's change.
 */
export function openFileTrustStore(file: string): TrustStore {
  let writing: Promise<unknown> = sweepTemporaries(dirname(file), `${basename(file)}.`);
  return {
    where: `the file ${file}`,
    read: async (name) => recordOf(name, (await readRecords(file)).get(name)),
    write(name, value, version) {
      const written = writing.then(() => writeRecord(file, name, value, version));
      writing = written.catch(() => {});
      return written;
    },
    names: async () => [...(await readRecords(file)).keys()].sort(),
    room: async () => ({ sizes: sizesOf(await readRecords(file)), mostPerAgent: MAX_BYTES_PER_AGENT }),
    revision: async () => versionOf((await readContent(file)) ?? ""),
    async [Symbol.asyncDispose]() {
      await writing;
    },
  };
}

async function readContent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new StoreUnavailableError(`Cannot read the file ${file}: ${code}`);
  }
}

async function readRecords(file: string): Promise<Map<string, string>> {
  const text = await readContent(file);
  if (text === undefined) return new Map();
  const value = parsed(text);
  if (value?.format !== FORMAT || typeof value.records !== "object" || value.records === null)
    throw new StoreUnavailableError(
      `Cannot use the file ${file}: expected {"format":${FORMAT},"records":{…}}. Repair it, or remove it to begin anew`,
    );
  return new Map(Object.entries(value.records).map(([name, record]) => [name, canonicalJson(record)]));
}

async function writeRecord(file: string, name: string, value: unknown, version: string | undefined): Promise<boolean> {
  const texts = await readRecords(file);
  const current = texts.get(name);
  if ((current === undefined ? undefined : versionOf(current)) !== version) return false;
  if (value === undefined) texts.delete(name);
  else texts.set(name, textOf(name, value));
  if (texts.size > MAX_RECORDS) throw noRoomFor(name);
  await writeContent(file, texts);
  return true;
}

async function writeContent(file: string, texts: ReadonlyMap<string, string>): Promise<void> {
  const value = {
    format: FORMAT,
    records: Object.fromEntries(
      [...texts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, text]) => [name, JSON.parse(text)]),
    ),
  };
  await replaceFile(file, `${JSON.stringify(value, undefined, 2)}\n`).catch((error: NodeJS.ErrnoException) => {
    throw new StoreUnavailableError(`Cannot write the file ${file}: ${error.code}`);
  });
}

function parsed(text: string): { readonly format?: unknown; readonly records?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
