import { registerUrlSecret } from "@rockbot/base/redaction";

/** Whose rules hold beside those of the protocol. */
export type ProviderKind = "openai" | "openrouter" | "anthropic" | "other";

/**
 * The base of an API, from a URL as people write it: with the path of a request, without any, or with a slash at the
 * end.
 * @throws {RangeError} if it cannot be one
 */
export function baseUrl(text: string): URL {
  const url = URL.parse(text);
  registerUrlSecret(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new RangeError(`Cannot ask a model at ${JSON.stringify(text)}: expected a URL with http: or https:`);
  if (url.username !== "" || url.password !== "")
    throw new RangeError(
      `Cannot ask a model at ${url.host}: the URL has a user name or password; give the key by itself`,
    );
  const path = url.pathname.replace(/\/+$/, "").replace(/\/(chat\/completions|messages|models)$/, "");
  url.pathname = path !== "" ? path : kindOf(url.hostname) === "openrouter" ? "/api/v1" : "/v1";
  url.search = "";
  url.hash = "";
  return url;
}

/** Tells the kind by the host's name. */
export function kindOf(hostname: string): ProviderKind {
  if (/(^|\.)openai\.(com|azure\.com)$/.test(hostname)) return "openai";
  if (/(^|\.)openrouter\.ai$/.test(hostname)) return "openrouter";
  return /(^|\.)anthropic\.com$/.test(hostname) ? "anthropic" : "other";
}
