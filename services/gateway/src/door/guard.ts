import type { IncomingMessage } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { createFrontDoor, type FrontDoorOptions, letIn, type Visit } from "@rockbot/edge/inbound";
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { HttpErrorCode } from "../http/http-error.ts";
import type { ReceivedBody } from "../http/read-body.ts";
import type { Operator } from "./operator.ts";
import type { RefusalLog } from "./refusal-log.ts";

/** The values that handlers of requests find in their context. */
export interface GatewayEnv {
  Bindings: HttpBindings;
  Variables: {
    /** On whose behalf the request is; undefined for the gateway's own agent. */
    caller: string | undefined;
    body: ReceivedBody;
    visit: Visit;
    /** Who sends the request, where it is for operators only. */
    operator: Operator;
    /** The operator's session of the console; undefined if the request has the operator's token. */
    session: { readonly endsAt: number } | undefined;
    /** The words of a request that a system has signed for its operator. */
    signed: { readonly operator: string; readonly id: string; readonly digest: string } | undefined;
  };
}

export interface GuardOptions extends FrontDoorOptions {
  /** Tells who sends a request, or throws. */
  readonly identify: (c: Context<GatewayEnv>) => string | undefined;
  /** Gets requests that do not pass. */
  readonly refusals: RefusalLog | undefined;
}

/**
 * Lets a request pass only by the front door, and if it shows who sends it, which is the variable `caller` from then
 * on. Requests that pass never get CORS headers in their answers.
 */
export function guard({ identify, refusals, ...names }: GuardOptions) {
  const faultOf = createFrontDoor(names);
  return createMiddleware<GatewayEnv>(async (c, next) => {
    const { incoming } = c.env;
    try {
      passFrontDoor(faultOf, incoming);
      c.set("caller", identify(c));
    } catch (error) {
      if (error instanceof ToolError) refusals?.request(incoming.socket.remoteAddress, error);
      throw error;
    }
    letIn(incoming);
    await next();
  });
}

/** @throws {ToolError} for a request that does not come by the front door */
export function passFrontDoor(faultOf: ReturnType<typeof createFrontDoor>, incoming: IncomingMessage): void {
  const fault = faultOf(incoming);
  if (fault === undefined) return;
  throw new ToolError(fault.kind === "malformed" ? HttpErrorCode.BadRequest : ToolErrorCode.Denied, fault.message);
}
