import type { ToolAnnouncement } from "@rockbot/contracts";
import { MAX_LIST_BYTES } from "../limits.ts";

const MAX_UNFINISHED = 256;
/** The bytes of all lists that are not complete. */
const MAX_UNFINISHED_BYTES = 2 * MAX_LIST_BYTES;

/** Names a list; its pages are the same from each instance of its service. */
type ListName = Pick<ToolAnnouncement, "service" | "hash" | "pages">;

/** A list of which pages have come. */
interface UnfinishedList {
  readonly pages: ({ readonly page: ToolAnnouncement; readonly bytes: number } | undefined)[];
  bytes: number;
}

/** All pages of a list. */
export interface FinishedList {
  readonly pages: readonly ToolAnnouncement[];
  readonly bytes: number;
}

/** Lists of tools whose pages are on their way. Beyond a number and a size, the one that began first is forgotten. */
export class UnfinishedLists {
  readonly #lists = new Map<string, UnfinishedList>();
  #bytes = 0;

  has(list: ListName): boolean {
    return this.#lists.has(keyOf(list));
  }

  /** How many pages of the list are here. */
  pagesHad(list: ListName): number {
    return this.#lists.get(keyOf(list))?.pages.filter((page) => page !== undefined).length ?? 0;
  }

  /** Adds a page. @returns the list if that was its last page, and why the page was refused if it was */
  add(page: ToolAnnouncement, bytes: number): FinishedList | "too-large" | "no-such-page" | undefined {
    const key = keyOf(page);
    const list = this.#lists.get(key) ?? { pages: new Array<undefined>(page.pages).fill(undefined), bytes: 0 };
    if (page.page >= list.pages.length) return "no-such-page";
    const more = bytes - (list.pages[page.page]?.bytes ?? 0);
    if (list.bytes + more > MAX_LIST_BYTES) {
      this.#forget(key);
      return "too-large";
    }
    list.pages[page.page] = { page, bytes };
    list.bytes += more;
    this.#bytes += more;
    this.#lists.set(key, list);
    const pages = list.pages.flatMap((had) => had?.page ?? []);
    const isFinished = pages.length === page.pages;
    if (isFinished) this.#forget(key);
    this.#forgetOldest();
    return isFinished ? { pages, bytes: list.bytes } : undefined;
  }

  #forgetOldest(): void {
    for (const oldest of this.#lists.keys()) {
      if (this.#lists.size <= MAX_UNFINISHED && this.#bytes <= MAX_UNFINISHED_BYTES) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#lists.get(key)?.bytes ?? 0;
    this.#lists.delete(key);
  }
}

const keyOf = ({ service, hash, pages }: ListName): string => `${service} ${hash} ${pages}`;
