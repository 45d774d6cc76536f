import type { MemoryEntryInfo } from "./working-memory.ts";

/** An entry that is to be kept, and the version that is to be there before, as SetOptions says. */
export interface EntryToPut {
  readonly info: MemoryEntryInfo;
  readonly value: string;
  readonly ifVersion?: string | null | undefined;
}

/** The records of one owner in some store: the few operations that stores differ in. */
export interface EntryRecords {
  /** All or none. @throws {MemoryFullError} @throws {MemoryChangedError} */
  put(entries: readonly EntryToPut[]): Promise<void>;
  /** An entry that has not expired, with a part of its text; undefined without. */
  load(
    key: string,
    offset: number,
    length: number,
  ): Promise<{ readonly info: MemoryEntryInfo; readonly text: string } | undefined>;
  delete(key: string): Promise<boolean>;
  /** Lists the entries by key, none of them expired. */
  list(prefix: string): Promise<readonly MemoryEntryInfo[]>;
}
