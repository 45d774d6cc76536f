import type { Finding } from "@rockbot/process";
import type { WebToolsConfig } from "./generated/config.ts";
import { chooseSearch } from "./search/choose-search.ts";

/** For `rockbot doctor`: which service web_search asks, or what is missing for one. */
export function examine(config: Readonly<WebToolsConfig>): readonly Finding[] {
  const search = chooseSearch(config);
  if (search.name === undefined) {
    const what = config.searchProvider === "searxng" ? "SEARXNG_BASE_URL" : "BRAVE_API_KEY";
    return [{ what, state: "off", message: `not set, so web_search is off. ${search.missing} web_browse needs none` }];
  }
  if (search.name === "brave") return [{ what: "BRAVE_API_KEY", state: "ok", message: "set" }];
  return [{ what: "SEARXNG_BASE_URL", state: "ok", message: `web_search asks ${config.searxngBaseUrl}` }];
}
