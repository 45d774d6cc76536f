import type { SelectPart } from "./select-part.ts";

/** How an endpoint gives its answer in pages. */
export interface Paging {
  /** True if the header Link names the next page. */
  readonly link: boolean;
  /** Where an answer has the next page's cursor or address. */
  readonly next: SelectPart | undefined;
  /** The query parameter of the cursor, or of the number. */
  readonly query: string | undefined;
  /** The number of the first page, where pages are numbered. */
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
  /** The index of the page, counted from 0. */
  readonly index: number;
  readonly count: number;
}

/**
 * Where the next page is; undefined if this was the last. "elsewhere" if the server names one that is not read, and
 * "unknown" if the answer cannot be understood.
 */
export function nextPage(
  { link, next, query, from, step }: Paging,
  page: ReadPage,
): URL | "elsewhere" | "unknown" | undefined {
  if (link) {
    const target = linkTo(page.link ?? "", "next");
    return target === UNREADABLE ? "unknown" : within(page.url, target);
  }
  if (next === undefined)
    return from === undefined || query === undefined || page.count === 0
      ? undefined
      : withQuery(page.url, query, String(from + step * (page.index + 1)));
  const cursor = next(page.value);
  // The last of several pages may leave it out. Where already the first one does, the file may look in the wrong place.
  if (cursor === undefined) return page.index === 0 ? "unknown" : undefined;
  if (cursor === null || cursor === false || cursor === "") return undefined;
  if (typeof cursor !== "string" && typeof cursor !== "number") return "unknown";
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

const UNREADABLE = Symbol("unreadable");
const MAX_HEADER = 8_192;
const NAME = "[\\w!#$%&'*+.^`|~-]+";
const VALUE = '"(?:[^"\\\\]|\\\\.)*"|[^\\s";,]+';
const LINK = new RegExp(`[\\s,]*<([^<>]*)>\\s*((?:;\\s*(?:${NAME}\\s*(?:=\\s*(?:(?:${VALUE})\\s*)?)?)?)*)(?:,|$)`, "y");
const PARAMETER = new RegExp(`;\\s*(${NAME})\\s*(?:=\\s*(${VALUE})?)?`, "g");

/** The target of the first link of this relation, by RFC 8288. */
function linkTo(whole: string, relation: string): string | typeof UNREADABLE | undefined {
  const header = whole.slice(0, MAX_HEADER);
  for (let at = 0; !/^[\s,]*$/.test(header.slice(at)); at = LINK.lastIndex) {
    LINK.lastIndex = at;
    const [, target, parameters = ""] = LINK.exec(header) ?? [];
    if (target === undefined) return UNREADABLE;
    // Of several parameters "rel" of one link only the first counts.
    const rel = [...parameters.matchAll(PARAMETER)].find(([, name = ""]) => name.toLowerCase() === "rel")?.[2] ?? "";
    if (
      rel
        .replaceAll(/^"|"$|\\/g, "")
        .toLowerCase()
        .split(/\s+/)
        .includes(relation)
    )
      return target;
  }
  return whole.length > MAX_HEADER ? UNREADABLE : undefined;
}
