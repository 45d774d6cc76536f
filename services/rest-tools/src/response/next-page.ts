import type { SelectPart } from "./select-part.ts";

/** How an endpoint gives its answer in pages. */
export interface Paging {
  /** Whether the header Link names the next page. */
  readonly link: boolean;
  /** Where an answer has the next page's cursor or address. */
  readonly next: SelectPart | undefined;
  /** The query parameter of the cursor, or of the number. */
  readonly query: string | undefined;
  /** Of the first page, where pages are numbered. */
  readonly from: number | undefined;
  readonly step: number;
  readonly items: SelectPart | undefined;
  readonly maxPages: number;
}

export interface ReadPage {
  /** Where it came from in the end. */
  readonly url: URL;
  readonly link: string | undefined;
  readonly value: unknown;
  /** Of the page, counted from 0. */
  readonly index: number;
  readonly count: number;
}

/** Where the next page is; undefined if this was the last, and "elsewhere" if the server names one that is not read. */
export function nextPage({ link, next, query, from, step }: Paging, page: ReadPage): URL | "elsewhere" | undefined {
  if (link) return within(page.url, linkTo(page.link, "next"));
  if (next === undefined)
    return from === undefined || query === undefined || page.count === 0 ? undefined : withQuery(page.url, query, String(from + step * (page.index + 1)));
  const cursor = next(page.value);
  if ((typeof cursor !== "string" && typeof cursor !== "number") || cursor === "") return undefined;
  return query === undefined ? within(page.url, String(cursor)) : withQuery(page.url, query, String(cursor));
}

/** The server chooses that address: it stays at its origin, where the credential belongs. */
function within(from: URL, target: string | undefined): URL | "elsewhere" | undefined {
  if (target === undefined) return undefined;
  const url = URL.parse(target, from.href);
  if (url === null || url.origin !== from.origin || url.username !== "") return "elsewhere";
  return url.href === from.href ? undefined : url;
}

function withQuery(from: URL, name: string, value: string): URL | undefined {
  const url = new URL(from.href);
  if (url.searchParams.get(name) === value) return undefined;
  url.searchParams.set(name, value);
  return url;
}

/** RFC 8288, as far as APIs use it. */
function linkTo(header: string | undefined, relation: string): string | undefined {
  for (const [, target, parameters = ""] of (header ?? "").slice(0, 8192).matchAll(/<([^<>]*)>([^<]*)/g))
    if (new RegExp(`;\\s*rel="?(?:[^"]*\\s)?${relation}(?:\\s[^"]*)?"?\\s*(?:[;,]|$)`, "i").test(parameters)) return target;
  return undefined;
}
