import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { type Admission, GaveWayError, NoPlaceError } from "@rockbot/edge/inbound";
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { HttpErrorCode } from "../http/http-error.ts";
import { hasBody, receiveBody } from "../http/read-body.ts";
import type { GatewayEnv } from "./guard.ts";

/**
 * Lets a request run once its body is there, as far as there are places. Handlers find the body, and the request's
 * visit, in their context.
 * @param isMcp whether the body is a message of MCP: see receiveBody. @default none is
 * @param isStreamed whether the handler reads the body itself, and lets the request run then. @default none does
 */
export function admission(
  admissionOf: (c: Context<GatewayEnv>) => Admission,
  isMcp: (c: Context<GatewayEnv>) => boolean = () => false,
  isStreamed: (c: Context<GatewayEnv>) => boolean = () => false,
) {
  return createMiddleware<GatewayEnv>(async (c, next) => {
    const { incoming, outgoing } = c.env;
    try {
      const visit = admissionOf(c).begin(outgoing, c.get("caller"));
      c.set("visit", visit);
      if (isStreamed(c)) return await next();
      if (hasBody(incoming)) c.set("body", await visit.receive(() => receiveBody(incoming, isMcp(c))));
      visit.run();
    } catch (error) {
      throw asRefusal(error);
    }
    await next();
  });
}

function asRefusal(error: unknown): unknown {
  if (error instanceof NoPlaceError) {
    return new ToolError(ToolErrorCode.Overloaded, `Cannot take the request: ${error.message}. Try again in a second`, {
      retryAfterMs: 1000,
    });
  }
  if (error instanceof GaveWayError)
    return new ToolError(HttpErrorCode.RequestTimeout, `Cannot read the request: ${error.message}. Send it faster`);
  return error;
}
