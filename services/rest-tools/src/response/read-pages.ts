import { nextPage, type Paging, type ReadPage } from "./next-page.ts";

type Page = Pick<ReadPage, "url" | "link" | "value">;

export interface ReadPagesOptions {
  /**
   * Where the first page was asked for. Only there further ones are: credentials belong to it, wherever a redirect has
   * led.
   */
  readonly origin: string;
  /** The bound for all items together, as JSON: beyond, no further page is read. */
  readonly maxLength: number;
}

/** The items of an answer and of the pages behind it. */
export interface ReadPages {
  readonly items: readonly unknown[];
  readonly pages: number;
  /**
   * Where there are more: beyond the bounds of one call, at an address that is not read, as credentials do not belong
   * there, or nobody can tell.
   */
  readonly more: "here" | "elsewhere" | "unknown" | undefined;
}

/**
 * Reads page after page, at most `maxPages`.
 * @param read gets a further page, given the number of those that are there; undefined ends it
 */
export async function readPages(
  paging: Paging,
  first: Page,
  read: (url: URL, pages: number) => Promise<Page | undefined>,
  { origin, maxLength }: ReadPagesOptions,
): Promise<ReadPages> {
  const items: unknown[] = [];
  let length = 0;
  let page: Page | undefined = first;
  for (let index = 0; ; index++) {
    const found: unknown = paging.items === undefined ? page.value : paging.items(page.value);
    const list: readonly unknown[] = Array.isArray(found) ? found : [found];
    items.push(...list);
    const next = nextPage(paging, { ...page, index, count: list.length });
    const pages = index + 1;
    if (next === undefined) return { items, pages, more: undefined };
    if (next === "unknown") return { items, pages, more: next };
    if (next === "elsewhere" || next.origin !== origin) return { items, pages, more: "elsewhere" };
    length += JSON.stringify(list).length;
    if (pages >= paging.maxPages || length >= maxLength) return { items, pages, more: "here" };
    page = await read(next, pages);
    if (page === undefined) return { items, pages, more: "unknown" };
  }
}
