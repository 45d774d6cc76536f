import type { IncomingHttpHeaders } from "node:http";
import type { Context } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import { type ConsoleSession, type ConsoleSessions, SESSION_MS } from "./console-sessions.ts";

/** The header of a request that carries the value of its session. */
export const VALUE_HEADER = "rb-console";
/** A browser takes the second name only for a whole host, by https: no other host of its domain can set it. */
const PLAIN = "rb-console";
const HOSTED = "__Host-rb-console";
/** Further cookies of the name are not looked at: other programs on the host may have set them, for other paths. */
const MAX_COOKIES = 4;

export function setConsoleCookie(c: Context, cookie: string): void {
  const isHttps = c.req.header("origin")?.startsWith("https:") === true;
  setCookie(c, isHttps ? HOSTED : PLAIN, cookie, {
    httpOnly: true,
    sameSite: "Strict",
    path: "/",
    secure: isHttps,
    maxAge: SESSION_MS / 1000,
  });
}

export function clearConsoleCookie(c: Context): void {
  deleteCookie(c, PLAIN, { path: "/" });
  deleteCookie(c, HOSTED, { path: "/", secure: true });
}

/** The session that one of the request's cookies opens together with the value. */
export function sessionIn(
  sessions: ConsoleSessions,
  { cookie = "", [VALUE_HEADER]: value }: IncomingHttpHeaders,
): ConsoleSession | undefined {
  const cookies = [...cookie.matchAll(/(?:^|; *)(?:__Host-)?rb-console=([\w-]+)/g)].slice(0, MAX_COOKIES);
  for (const [, sealed = ""] of cookies) {
    const session = sessions.open(sealed, String(value));
    if (session !== undefined) return session;
  }
  return undefined;
}
