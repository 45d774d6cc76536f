import type { Logger } from "@rockbot/bus";
import { ToolError } from "@rockbot/contracts";
import { bearerOf } from "@rockbot/edge/inbound";
import { operatorTokens, type PolicyHolder } from "@rockbot/policy";
import type { MiddlewareHandler } from "hono";
import type { Authenticate } from "../door/authenticate.ts";
import { type GatewayEnv, type GuardOptions, guard } from "../door/guard.ts";
import { HttpErrorCode } from "../http/http-error.ts";
import type { HttpApp } from "../http/http-server.ts";
import type { ReceivedBody } from "../http/read-body.ts";

export interface OperatorDoorOptions extends Omit<GuardOptions, "authenticate"> {
  /** Whose operators' tokens open the door. */
  readonly policy: Pick<PolicyHolder, "current">;
  /** Bounds what runs at once. */
  readonly admit: MiddlewareHandler<GatewayEnv>;
  readonly log: Logger;
}

/** All paths for operators begin so. */
export const OPERATOR_PATH = "/operator/";

/**
 * Opens the endpoints for operators to one of their tokens, and to nothing else. It opens neither to a caller's token
 * or the gateway's, nor to clients of this machine, where tools run, too. While the policy has no such token there is
 * no door.
 */
export function operatorDoor(
  operator: HttpApp,
  { policy, admit, log, ...names }: OperatorDoorOptions,
): MiddlewareHandler<GatewayEnv> {
  const check = guard({ ...names, authenticate: createOperatorAuthenticator(policy) });
  return async (c, next) => {
    if (operatorTokens(policy.current().document).size === 0) return next();
    let answer: Response | undefined;
    const refused = await check(c, async () => {
      log.info({ operator: c.get("caller"), method: c.req.method, path: c.req.path }, "an operator sent a request");
      await admit(c, async () => {
        answer = await operator.fetch(withBody(c.req.raw, c.get("body")), c.env);
        c.res = answer;
      });
    });
    return refused ?? answer;
  };
}

/** The body has been read from the connection. @throws {ToolError} if it could not be */
function withBody({ url, method, headers }: Request, body: ReceivedBody): Request {
  if (body instanceof ToolError) throw body;
  return new Request(url, {
    method,
    headers,
    ...(body === undefined || method === "GET" || method === "HEAD" ? {} : { body: new Uint8Array(body) }),
  });
}

function createOperatorAuthenticator(policy: Pick<PolicyHolder, "current">): Authenticate {
  return (authorization) => {
    const presented = bearerOf(authorization);
    const found =
      presented === undefined ? undefined : operatorTokens(policy.current().document).find(presented, Date.now());
    if (found !== undefined && !found.isExpired) return found.holder;
    const why =
      presented === undefined
        ? "no bearer token came with it"
        : found === undefined
          ? "its bearer token is no operator's"
          : "its bearer token has expired";
    throw new ToolError(
      HttpErrorCode.Unauthorized,
      `Cannot answer the request: ${why}. Send "Authorization: Bearer TOKEN" with an operator's token`,
    );
  };
}
