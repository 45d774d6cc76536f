import type { IncomingMessage } from "node:http";

/** Under which names and from which web pages a server may be addressed. */
export interface FrontDoorOptions {
  /** Names, without port, by which the server may be addressed, besides those of loopback. */
  readonly allowedHosts: readonly string[];
  /**
   * Origins of web pages that may send requests, besides the server's own, in any spelling: `HTTPS://Chat.example:443`
   * is `https://chat.example`.
   */
  readonly allowedOrigins: readonly string[];
}

/** Why a request is not answered. */
export interface FrontDoorFault {
  readonly kind: "malformed" | "denied";
  /** The message in words for the client that sent the request. */
  readonly message: string;
}

type RequestHead = Pick<IncomingMessage, "url" | "headers" | "rawHeaders">;

/** Which of two such headers counts is up to the reader: a proxy may take one, and we the other. */
const ONCE: ReadonlySet<string> = new Set(["host", "authorization", "origin"]);
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Makes the check of requests at the door. A request passes only if every reader reads it alike. It must also address
 * the server by a name of its own, and come from no strange web page. The name stops DNS rebinding: a page of
 * `evil.example`, whose name was pointed at 127.0.0.1, still sends its own name as Host.
 */
export function createFrontDoor({
  allowedHosts,
  allowedOrigins,
}: FrontDoorOptions): (request: RequestHead) => FrontDoorFault | undefined {
  const hosts = new Set([...LOOPBACK, ...allowedHosts.map((host) => host.toLowerCase())]);
  const origins = new Set(allowedOrigins.map((origin) => URL.parse(origin)?.origin));
  return (request) => formFault(request) ?? hostFault(request, hosts) ?? originFault(request, origins);
}

function formFault({ headers, rawHeaders }: RequestHead): FrontDoorFault | undefined {
  const repeated = repeatedOf(rawHeaders);
  if (repeated !== undefined) return malformed(`it has more than one ${repeated} header. Send one`);
  const encoding = headers["transfer-encoding"] ?? "chunked";
  return encoding.toLowerCase() === "chunked" ? undefined : malformed("its transfer encoding is not chunked alone");
}

/** The first header that may come once and came more often. @param rawHeaders names and values in turn */
function repeatedOf(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? "";
    if (!ONCE.has(name)) continue;
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

function hostFault({ url = "/", headers }: RequestHead, hosts: ReadonlySet<string>): FrontDoorFault | undefined {
  // A request line may name a host of its own (`GET http://other/ HTTP/1.1`); it must be ours, too.
  const named = [headers.host ?? "", ...(url.startsWith("/") ? [] : [URL.parse(url)?.host ?? ""])];
  const strange = named.find((host) => !hosts.has(nameIn(host) ?? ""));
  if (strange === undefined) return undefined;
  return denied(
    `for the host ${shown(strange)}: it is not one of this server's names. Use localhost, or add the name to allowedHosts`,
  );
}

/** By then the host is known to be ours: a client that sends it as origin is no page of another site. */
function originFault(
  { headers: { origin, host } }: RequestHead,
  origins: ReadonlySet<string | undefined>,
): FrontDoorFault | undefined {
  if (origin === undefined || origins.has(origin)) return undefined;
  const [scheme] = /^https?:\/\//.exec(origin) ?? [];
  if (scheme !== undefined && URL.parse(`${scheme}${host}`)?.origin === origin) return undefined;
  return denied(`of a web page of ${shown(origin)}: the origin is not in allowedOrigins`);
}

/** The name in a Host header, lower case, without port; undefined if it is no plain host. */
const nameIn = (host: string): string | undefined =>
  /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,255})(:\d{1,5})?$/.exec(host.toLowerCase())?.[1];

/** True for a Host header that names this machine to itself. */
export const isLoopbackHost = (host: string): boolean => LOOPBACK.includes(nameIn(host) ?? "");

const malformed = (why: string): FrontDoorFault => ({
  kind: "malformed",
  message: `Cannot answer the request: ${why}`,
});
const denied = (why: string): FrontDoorFault => ({ kind: "denied", message: `Cannot answer a request ${why}` });
const shown = (text: string): string => JSON.stringify(text.slice(0, 80));
