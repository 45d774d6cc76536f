import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

export interface AdmitOptions {
  /** The bearer token that each request carries. */
  readonly token: string;
  /** Names, without port, by which the server may be addressed, beside those of loopback. */
  readonly allowedHosts: readonly string[];
  /** Origins of web pages that may send requests; none may read the answers, which have no CORS headers. */
  readonly allowedOrigins: readonly string[];
}

/** Why a request is not answered, in words for whoever sent it. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 404;
  readonly message: string;
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];
/** Which of two such headers counts is up to whoever reads them. */
const ONCE = ["host", "authorization", "origin"];
export const MCP_PATH = "/mcp";

/**
 * Makes the door of a server: it lets a request pass that goes to its path, by a name of its own, from no strange web page, and with the token. The
 * name stops DNS rebinding: a page whose name was pointed at this machine still sends its own name.
 */
export function createAdmission({ token, allowedHosts, allowedOrigins }: AdmitOptions): (request: IncomingMessage) => Refusal | undefined {
  const expected = sha256(token);
  const hosts = new Set([...LOOPBACK, ...allowedHosts.map((host) => host.toLowerCase())]);
  const origins = new Set(allowedOrigins.map((origin) => URL.parse(origin)?.origin));
  return ({ url = "/", headers, headersDistinct }) => {
    const repeated = ONCE.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
    if (repeated !== undefined) return { status: 400, message: `The request has more than one ${repeated} header: send one` };
    const host = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,255})(:\d{1,5})?$/.exec((headers.host ?? "").toLowerCase())?.[1];
    if (host === undefined || !hosts.has(host))
      return { status: 403, message: "The request is addressed to a name that is none of this server's: use localhost, or add the name to allowedHosts" };
    if (headers.origin !== undefined && !origins.has(headers.origin))
      return { status: 403, message: "The request is of a web page whose origin is not in allowedOrigins" };
    if (url.split("?", 1)[0] !== MCP_PATH) return { status: 404, message: `Nothing is served here but MCP, at ${MCP_PATH}` };
    const presented = /^Bearer +([\x21-\x7e]+)$/i.exec(headers.authorization ?? "")?.[1];
    if (presented === undefined) return { status: 401, message: 'The request carries no token: send "Authorization: Bearer TOKEN"' };
    // Hashes have one length, so that comparing takes the same time whatever came.
    return timingSafeEqual(sha256(presented), expected) ? undefined : { status: 401, message: "The bearer token of the request is not this server's" };
  };
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
