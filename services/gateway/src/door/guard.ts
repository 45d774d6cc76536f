import type { HttpBindings } from "@hono/node-server";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { createFrontDoor, type FrontDoorOptions, letIn, type Visit } from "@rockbot/edge/inbound";
import { createMiddleware } from "hono/factory";
import { HttpErrorCode } from "../http/http-error.ts";
import type { ReceivedBody } from "../http/read-body.ts";
import type { Authenticate } from "./authenticate.ts";
import type { RefusalLog } from "./refusal-log.ts";

/** The values that handlers of requests find in their context. */
export interface GatewayEnv {
  Bindings: HttpBindings;
  Variables: {
    /** On whose behalf the request is; undefined for the gateway's own agent. */
    caller: string | undefined;
    body: ReceivedBody;
    visit: Visit;
  };
}

export interface GuardOptions extends FrontDoorOptions {
  /** Tells who sends a request by its Authorization header, or throws. */
  readonly authenticate: Authenticate;
  /** Gets requests that do not pass. */
  readonly refusals: RefusalLog | undefined;
}

/**
 * Lets a request pass only by the front door, and if it shows who sends it, which is the variable `caller` from then
 * on. Requests that pass never get CORS headers in their answers.
 */
export function guard({ authenticate, refusals, ...names }: GuardOptions) {
  const faultOf = createFrontDoor(names);
  return createMiddleware<GatewayEnv>(async (c, next) => {
    const { incoming } = c.env;
    try {
      const fault = faultOf(incoming);
      if (fault !== undefined)
        throw new ToolError(
          fault.kind === "malformed" ? HttpErrorCode.BadRequest : ToolErrorCode.Denied,
          fault.message,
        );
      c.set("caller", authenticate(c.req.header("authorization")));
    } catch (error) {
      if (error instanceof ToolError) refusals?.request(incoming.socket.remoteAddress, error);
      throw error;
    }
    letIn(incoming);
    await next();
  });
}
