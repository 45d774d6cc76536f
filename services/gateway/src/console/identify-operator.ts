import { ToolError } from "@rockbot/contracts";
import { bearerOf } from "@rockbot/edge/inbound";
import type { PolicyHolder } from "@rockbot/policy";
import type { Context } from "hono";
import type { GatewayEnv } from "../door/guard.ts";
import type { Operator } from "../door/operator.ts";
import { HttpErrorCode } from "../http/http-error.ts";
import type { AuthenticateOperator } from "../operators/authenticate-operator.ts";
import { identifySigned } from "../operators/signed-requests.ts";
import { sessionIn, VALUE_HEADER } from "./console-cookie.ts";
import { checkConsoleOrigin } from "./console-origin.ts";
import type { ConsoleSession, ConsoleSessions } from "./console-sessions.ts";

/**
 * Tells who sends a request: an operator's token says it, or else a session of the console, whose token is looked at
 * anew each time. The session is the variable `session` from then on. A system signs for its operator.
 * @param sessions undefined where there is no console
 */
export function identifyOperator(
  authenticate: AuthenticateOperator,
  sessions: ConsoleSessions | undefined,
  policy: Pick<PolicyHolder, "current">,
): (c: Context<GatewayEnv>) => Operator {
  return (c) => {
    const { authorization, [VALUE_HEADER]: value, "webhook-signature": signature } = c.env.incoming.headers;
    if (authorization === undefined && signature !== undefined) return identifySigned(c, policy);
    if (authorization !== undefined || value === undefined || sessions === undefined)
      return authenticate(bearerOf(authorization));
    const session = openSession(c, sessions);
    const operator = authenticate(session.token);
    c.set("session", session);
    return operator;
  };
}

/** @throws {ToolError} if another page has sent the request, or it opens no session */
export function openSession(c: Context<GatewayEnv>, sessions: ConsoleSessions): ConsoleSession {
  const { headers } = c.env.incoming;
  checkConsoleOrigin(headers);
  const session = sessionIn(sessions, headers);
  if (session === undefined)
    throw new ToolError(
      HttpErrorCode.Unauthorized,
      'Cannot answer the request: its console session has ended, or its cookie and value do not belong together. Log in again: "rockbot open" gives a link',
    );
  return session;
}
