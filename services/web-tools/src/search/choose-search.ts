import { hostAndPort, type PublicFetch } from "@rockbot/edge/outbound";
import type { WebToolsConfig } from "../generated/config.ts";
import type { SearchProvider } from "./search-provider.ts";

type SearchSettings = Readonly<
  Pick<WebToolsConfig, "searchProvider" | "braveApiKey" | "braveBaseUrl" | "searxngBaseUrl">
>;

/** The search service that a configuration chooses, or what is missing for one. */
export type SearchChoice =
  | {
      readonly name: "brave" | "searxng";
      /** The exception of `allowAddresses` for it: the operator names its address, so it may be private. */
      readonly address: string;
      /** Loads the provider: the HTML parser it needs is no part of the service's start. */
      readonly load: (fetch: PublicFetch) => Promise<SearchProvider>;
    }
  | { readonly name: undefined; readonly missing: string };

/** Chooses the search of `searchProvider`; without it Brave if it has a key, else SearXNG if it has an address. */
export function chooseSearch({
  searchProvider,
  braveApiKey,
  braveBaseUrl,
  searxngBaseUrl,
}: SearchSettings): SearchChoice {
  const name =
    searchProvider ?? (braveApiKey !== undefined ? "brave" : searxngBaseUrl !== undefined ? "searxng" : undefined);
  if (name === "brave" && braveApiKey !== undefined) {
    return {
      name,
      address: hostAndPort(braveBaseUrl),
      load: async (fetch) =>
        (await import("./brave-search.ts")).braveSearch({ apiKey: braveApiKey, baseUrl: braveBaseUrl, fetch }),
    };
  }
  if (name === "searxng" && searxngBaseUrl !== undefined) {
    return {
      name,
      address: hostAndPort(searxngBaseUrl),
      load: async (fetch) => (await import("./searxng-search.ts")).searxngSearch({ baseUrl: searxngBaseUrl, fetch }),
    };
  }
  return { name: undefined, missing: MISSING[name ?? "any"] };
}

const MISSING = {
  brave: "It needs a key of the Brave Search API, as SEARCH_PROVIDER is brave: set BRAVE_API_KEY.",
  searxng: "It needs the address of a SearXNG instance, as SEARCH_PROVIDER is searxng: set SEARXNG_BASE_URL.",
  any: "It needs a key of the Brave Search API: set BRAVE_API_KEY. Or it needs the address of a SearXNG instance: set SEARXNG_BASE_URL.",
} as const;
