import { setImmediate as nextTurn } from "node:timers/promises";
import { rankWithScores } from "@rockbot/base/ranking";
import type { EntryRecords } from "../entry-records.ts";
import type { MemoryEntryInfo, MemoryHit, SearchQuery } from "../working-memory.ts";

const MAX_QUERY = 1_024;
const BEGINNING = 120;
/** Words are looked for in so many characters of values, the newest first. */
const MAX_SEARCHED = 16 * 1024 * 1024;

/** Searches the entries of an owner: see OwnedMemory. */
export async function searchEntries(
  records: EntryRecords,
  { prefix, query = "", category, tags = [], limit = 20 }: SearchQuery,
): Promise<readonly MemoryHit[]> {
  const all = await records.list(prefix);
  const fitting = all
    .filter((entry) => isOfCategory(entry, category) && hasTags(entry, tags))
    .sort((a, b) => b.storedAt - a.storedAt);
  const words = query.trim().slice(0, MAX_QUERY);
  const best = words === "" ? fitting.slice(0, limit) : (await ranked(records, fitting, words)).slice(0, limit);
  const hits = await Promise.all(
    best.map(async (entry) => ({ entry, found: await records.load(entry.key, 0, BEGINNING) })),
  );
  return hits.flatMap(({ entry, found }) =>
    found === undefined ? [] : [{ ...entry, beginning: found.text.toWellFormed() }],
  );
}

async function ranked(
  records: EntryRecords,
  entries: readonly MemoryEntryInfo[],
  query: string,
): Promise<readonly MemoryEntryInfo[]> {
  let left = MAX_SEARCHED;
  const texts: string[] = [];
  for (const entry of entries) {
    const length = Math.min(entry.length, left);
    const found = length === 0 ? undefined : await records.load(entry.key, 0, length);
    left -= length;
    texts.push([entry.key.replace(/[_\-/]/g, " "), found?.text ?? "", ...entry.tags, entry.category ?? ""].join(" "));
    await nextTurn();
  }
  const words = [...wordsOf(query.toLowerCase())];
  const long = words.filter((word) => word.length > 1);
  const asked = (long.length > 0 ? long : words).join(" ");
  const ranks = rankWithScores(entries.entries(), ([index]) => texts[index] ?? "", asked, { tokensOf: wordsOf });
  return ranks.map(({ item: [, entry] }) => entry);
}

/** Runs of letters and digits of any script. Words of one character count only where the question has no others. */
function* wordsOf(text: string): Iterable<string> {
  for (const [word] of text.matchAll(/[\p{L}\p{N}]+/gu)) yield word;
}

function isOfCategory({ category }: MemoryEntryInfo, wanted: string | undefined): boolean {
  if (wanted === undefined || wanted === "") return true;
  const [own, asked] = [category?.toLowerCase() ?? "", wanted.toLowerCase()];
  return own === asked || own.startsWith(`${asked}/`);
}

function hasTags({ tags }: MemoryEntryInfo, wanted: readonly string[]): boolean {
  const own = new Set(tags.map((tag) => tag.toLowerCase()));
  return wanted.every((tag) => own.has(tag.toLowerCase()));
}
