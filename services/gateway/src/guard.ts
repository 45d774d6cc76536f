import type { HttpBindings } from "@hono/node-server";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { createMiddleware } from "hono/factory";
import type { Authenticate } from "./authenticate.ts";
import { HttpErrorCode } from "./http-error.ts";

/** What handlers of requests find in their context. */
export interface GatewayEnv {
  Bindings: HttpBindings;
  /** On whose behalf the request is; undefined for the gateway's own agent. */
  Variables: { caller: string | undefined };
}

export interface GuardOptions {
  /** Tells who sends a request by its Authorization header, or throws. */
  readonly authenticate: Authenticate;
  /** Names, without port, by which the server may be addressed, besides those of loopback. */
  readonly allowedHosts: readonly string[];
  /** Origins of web pages that may send requests, in any spelling: `HTTPS://Chat.example:443` is `https://chat.example`. */
  readonly allowedOrigins: readonly string[];
}

/** Which of two such headers counts is up to whoever reads them: a proxy may take one, and we the other. */
const ONCE = ["host", "authorization", "origin"];
const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Lets a request pass only if it addresses this server by a name of ours, comes from no strange web page, and shows
 * who sends it, which is the variable `caller` from then on. The name stops DNS rebinding: a page of `evil.example`, whose name was pointed at 127.0.0.1, still sends
 * its own name as Host. What passes is never answered with CORS headers.
 */
export function guard({ authenticate, allowedHosts, allowedOrigins }: GuardOptions) {
  const hosts = new Set([...loopbackNames, ...allowedHosts.map((host) => host.toLowerCase())]);
  const origins = new Set(allowedOrigins.map((origin) => URL.parse(origin)?.origin));

  return createMiddleware<GatewayEnv>(async (c, next) => {
    for (const name of ONCE) {
      if ((c.env.incoming.headersDistinct[name]?.length ?? 0) > 1)
        throw new ToolError(HttpErrorCode.BadRequest, `Cannot answer the request: it has more than one ${name} header. Send one`);
    }
    if ((c.env.incoming.headers["transfer-encoding"] ?? "chunked").toLowerCase() !== "chunked")
      throw new ToolError(HttpErrorCode.BadRequest, "Cannot answer the request: its transfer encoding is not chunked alone");
    // A request line may name a host of its own (`GET http://other/ HTTP/1.1`); it must be ours, too.
    for (const host of [c.env.incoming.headers.host ?? "", new URL(c.req.url).host]) {
      const name = hostName(host);
      if (name === undefined || !hosts.has(name)) {
        throw new ToolError(
          ToolErrorCode.Denied,
          `Cannot answer a request for the host ${JSON.stringify(host.slice(0, 80))}: it is none of this gateway's names. Use localhost, or add the name to allowedHosts`,
        );
      }
    }
    const origin = c.req.header("origin");
    if (origin !== undefined && !origins.has(origin)) {
      throw new ToolError(
        ToolErrorCode.Denied,
        `Cannot answer a request of a web page of ${JSON.stringify(origin.slice(0, 80))}: the origin is not in allowedOrigins`,
      );
    }
    c.set("caller", authenticate(c.req.header("authorization")));
    await next();
  });
}

/** The name in a Host header, lower case, without port; undefined if it is no plain host. */
function hostName(host: string): string | undefined {
  return /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,255})(:\d{1,5})?$/.exec(host.toLowerCase())?.[1];
}
