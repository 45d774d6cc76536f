import type { HttpBindings } from "@hono/node-server";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { createFrontDoor, type FrontDoorOptions } from "@rockbot/inbound";
import { createMiddleware } from "hono/factory";
import type { Authenticate } from "./authenticate.ts";
import { HttpErrorCode } from "./http-error.ts";

/** What handlers of requests find in their context. */
export interface GatewayEnv {
  Bindings: HttpBindings;
  /** On whose behalf the request is; undefined for the gateway's own agent. */
  Variables: { caller: string | undefined };
}

export interface GuardOptions extends FrontDoorOptions {
  /** Tells who sends a request by its Authorization header, or throws. */
  readonly authenticate: Authenticate;
}

/** Lets a request pass only by the front door, and if it shows who sends it, which is the variable `caller` from then on. What passes is never answered with CORS headers. */
export function guard({ authenticate, ...names }: GuardOptions) {
  const faultOf = createFrontDoor(names);
  return createMiddleware<GatewayEnv>(async (c, next) => {
    const fault = faultOf(c.env.incoming);
    if (fault !== undefined) throw new ToolError(fault.kind === "malformed" ? HttpErrorCode.BadRequest : ToolErrorCode.Denied, fault.message);
    c.set("caller", authenticate(c.req.header("authorization")));
    await next();
  });
}
