import type { MemoryEntryInfo } from "./working-memory.ts";

/** The records of one owner in some store: the few operations that stores differ in. */
export interface EntryRecords {
  /** All or none. @throws {MemoryFullError} */
  put(entries: readonly { readonly info: MemoryEntryInfo; readonly value: string }[]): Promise<void>;
  /** An entry that has not expired, with a part of its text; undefined without. */
  load(key: string, offset: number, length: number): Promise<{ readonly info: MemoryEntryInfo; readonly text: string } | undefined>;
  delete(key: string): Promise<boolean>;
  /** By key, none of them expired. */
  list(prefix: string): Promise<readonly MemoryEntryInfo[]>;
}
