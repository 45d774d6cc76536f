import type { Context } from "hono";
import type { Authenticate } from "./authenticate.ts";
import type { GatewayEnv } from "./guard.ts";

/**
 * Cuts a stream that lasts as long as its client wishes once its token is no longer that of the same caller: it may
 * have expired, or the policy may be another.
 */
export function recheck(c: Context<GatewayEnv>, authenticate: Authenticate, everyMs: number): Disposable {
  const caller = c.get("caller");
  const authorization = c.req.header("authorization");
  const timer = setInterval(() => isStill(caller, authenticate, authorization) || c.env.outgoing.destroy(), everyMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function isStill(caller: string | undefined, authenticate: Authenticate, authorization: string | undefined): boolean {
  try {
    return authenticate(authorization) === caller;
  } catch {
    return false;
  }
}
