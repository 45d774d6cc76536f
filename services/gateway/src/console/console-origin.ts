import type { IncomingHttpHeaders } from "node:http";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { isLoopbackHost } from "@rockbot/edge/inbound";

/**
 * Refuses what another page has sent. Cookies know no ports, so that to a browser the page of another program on this
 * machine is of the same site: its origin is not. The pages of `allowedOrigins` are strangers here, too.
 * @throws {ToolError} in words
 */
export function checkConsoleOrigin(headers: IncomingHttpHeaders): void {
  const { origin, host = "", "sec-fetch-site": site } = headers;
  if (site !== undefined && site !== "same-origin")
    throw denied(`the browser says that a page of another origin has sent it (Sec-Fetch-Site: ${shown(site)})`);
  if (origin === undefined) return;
  const [scheme] = /^https?:\/\//.exec(origin) ?? [];
  if (scheme === undefined || URL.parse(`${scheme}${host}`)?.origin !== origin)
    throw denied(`it is from a page of ${shown(origin)}, and this is ${shown(host)}`);
  if (scheme === "http://" && !isLoopbackHost(host))
    throw denied(`it came by http to ${shown(host)}. Open the console by https, or on its own machine`);
}

const denied = (why: string): ToolError =>
  new ToolError(ToolErrorCode.Denied, `Cannot answer a request of the console: ${why}`);
const shown = (text: unknown): string => JSON.stringify(String(text).slice(0, 80));
