import { checkKey, entryInfo } from "./entry-record.ts";
import type { EntryRecords } from "./entry-records.ts";
import { findIn } from "./search/find-in.ts";
import { searchEntries } from "./search/search-entries.ts";
import type { OwnedMemory } from "./working-memory.ts";

/** The memory of an owner over a store of records. */
export function ownedMemory(records: EntryRecords): OwnedMemory {
  return {
    async set(key, value, { ifVersion, ...options } = {}) {
      const info = entryInfo(key, value, options, Date.now());
      await records.put([{ info, value, ifVersion }]);
      return info.version;
    },
    async setAll(entries, options = {}) {
      const last = new Map(entries.map(({ key, value }) => [key, value])); // of two under one key the later counts
      const now = Date.now();
      if (last.size > 0)
        await records.put([...last].map(([key, value]) => ({ info: entryInfo(key, value, options, now), value })));
    },
    async get(key) {
      checkKey(key);
      const found = await records.load(key, 0, Number.MAX_SAFE_INTEGER);
      return found === undefined ? undefined : { ...found.info, value: found.text };
    },
    async read(key, { offset = 0, length = Number.MAX_SAFE_INTEGER } = {}) {
      checkKey(key);
      if (!Number.isSafeInteger(offset) || offset < 0 || !Number.isSafeInteger(length) || length < 1) {
        throw new RangeError(
          `Cannot read "${key}": offset must be a whole number from 0, and length one from 1; got ${offset} and ${length}`,
        );
      }
      const found = await records.load(key, offset, length);
      if (found === undefined) return undefined;
      const { info } = found;
      const text = offset + found.text.length < info.length ? withoutHalfPair(found.text) : found.text;
      const end = offset + text.length;
      return { ...info, text, offset, nextOffset: end < info.length ? end : undefined };
    },
    async find(key, query) {
      checkKey(key);
      const found = await records.load(key, 0, Number.MAX_SAFE_INTEGER);
      return found === undefined ? undefined : { ...found.info, ...(await findIn(found.text, query)) };
    },
    async delete(key) {
      checkKey(key);
      return records.delete(key);
    },
    list: (prefix) => records.list(prefix),
    search: (query) => searchEntries(records, query),
  };
}

/** Without the first half of a pair of surrogates at the end, unless that is all there is. */
function withoutHalfPair(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff && text.length > 1 ? text.slice(0, -1) : text;
}
