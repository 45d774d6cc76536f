import type { WebToolsConfig } from "./generated/config.ts";

/** For `rockbot doctor`: whether there is a key for web_search. */
export function examine({ braveApiKey }: Readonly<WebToolsConfig>) {
  const isSet = braveApiKey !== undefined;
  const message = isSet ? "set" : "not set, so web_search is off. A key comes from the Brave Search API; web_browse needs none";
  return [{ what: "BRAVE_API_KEY", state: isSet ? "ok" : "missing", message } as const];
}
