import type { CallJournal } from "./call-journal.ts";
import type { CallNotes } from "./call-notes.ts";
import { type CallRecord, shownRecord } from "./call-record.ts";
import type { KeptTexts } from "./kept-texts.ts";
import {
  type CallPage,
  type CallPlace,
  type CallSearch,
  isBeyond,
  isMeant,
  keyOf,
  MAX_EXAMINED,
  mergePages,
} from "./search-calls.ts";

/** The parts of a journal that a search goes through. */
export type SearchedJournal = Pick<CallJournal, "here" | "shared" | "keptHere">;

/** A page, and whether it lacks the calls of other processes. */
export interface SearchedPage extends CallPage {
  /** The store does not answer: the page has what this process knows itself. */
  readonly isPartial: boolean;
}

/**
 * A page of the calls of all callers that these journals know, or that are kept where they are kept. A journal that is
 * shared has its calls there, a moment after they are made.
 */
export async function searchJournals(journals: readonly SearchedJournal[], search: CallSearch): Promise<SearchedPage> {
  const stores = [...new Set(journals.flatMap(({ shared }) => shared ?? []))];
  const pages = await Promise.all(stores.map((store) => store.search(search).catch(() => undefined)));
  const away = new Set(stores.filter((_, index) => pages[index] === undefined));
  const own = journals.filter(({ shared }) => shared === undefined || away.has(shared));
  const known = pages.flatMap((page) => page ?? []);
  const page = own.length === 0 && known.length === 1 ? known[0] : undefined;
  return {
    ...(page ??
      mergePages(
        [
          ...known,
          searchHere(
            own.flatMap(({ here }) => here),
            search,
          ),
        ],
        search.limit,
      )),
    isPartial: away.size > 0,
  };
}

/** The texts of a call that are kept, wherever that is. @throws {StoreUnavailableError} if a store does not say */
export async function readKept(
  journals: readonly SearchedJournal[],
  { caller, toolCallId }: Pick<CallRecord, "caller" | "toolCallId">,
): Promise<KeptTexts | undefined> {
  for (const journal of journals) {
    const texts = journal.keptHere(caller, toolCallId);
    if (texts !== undefined) return texts;
  }
  const stores = [...new Set(journals.flatMap(({ shared }) => shared ?? []))];
  const found = await Promise.all(stores.map((store) => store.readKept(caller, toolCallId)));
  return found.find((texts) => texts !== undefined && texts.until > Date.now());
}

function searchHere(notes: readonly CallNotes[], search: CallSearch): CallPage {
  const { limit, from, before = Infinity } = search;
  const place = from ?? { at: before, key: "" };
  // Names are costly, and only calls of one moment need them.
  const keyed = (call: CallNotes): string => keyOf(call.head);
  const compare = (a: CallNotes, b: CallNotes): number =>
    b.startedAt - a.startedAt || Buffer.compare(Buffer.from(keyed(b)), Buffer.from(keyed(a)));
  const sorted = notes
    .filter(
      (call) => call.startedAt < place.at || (call.startedAt === place.at && isBeyond(place.at, keyed(call), place)),
    )
    .sort(compare);
  const found: CallNotes[] = [];
  const examined = sorted.slice(0, MAX_EXAMINED);
  for (const call of examined) {
    if (!isMeant(call.head, call.startedAt, search)) continue;
    if (found.length === limit) return { calls: found.map(shownOf), next: placeOf(found.at(-1)) };
    found.push(call);
  }
  return { calls: found.map(shownOf), next: sorted.length > examined.length ? placeOf(examined.at(-1)) : undefined };
}

const placeOf = (call: CallNotes | undefined): CallPlace | undefined =>
  call && { at: call.startedAt, key: keyOf(call.head) };
const shownOf = ({ record }: CallNotes) => shownRecord(record);
