import { plainText } from "@rockbot/page/text";
import type { SearchResult } from "./search-provider.ts";

const MAX_TITLE = 200;
const MAX_SNIPPET = 600;
const MAX_URL = 2048;

/**
 * The result that a service's fields are; undefined if they lead to no web page.
 * @param fields as they came: of any type and length
 */
export function searchResult(fields: {
  readonly title: unknown;
  readonly url: unknown;
  readonly snippet: unknown;
}): SearchResult | undefined {
  const url = URL.parse(textOf(fields.url).slice(0, MAX_URL + 1));
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== "" ||
    url.password !== "" ||
    url.href.length > MAX_URL
  )
    return undefined;
  return {
    title: plainText(textOf(fields.title), MAX_TITLE),
    url: url.href,
    snippet: plainText(textOf(fields.snippet), MAX_SNIPPET),
  };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
