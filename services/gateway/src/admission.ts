import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { createMiddleware } from "hono/factory";
import type { GatewayEnv } from "./guard.ts";

export interface AdmissionOptions {
  /** How many requests run at once. */
  readonly maxConcurrent: number;
  /** How long a client may take to read its answer, once it is complete, before the connection is cut. */
  readonly answerMs: number;
}

/** Bounds the requests that run at once. A request holds its place until its answer has left or its connection is gone. */
export function admission({ maxConcurrent, answerMs }: AdmissionOptions) {
  let running = 0;
  return createMiddleware<GatewayEnv>(async (c, next) => {
    if (running >= maxConcurrent) {
      throw new ToolError(ToolErrorCode.Overloaded, `Cannot take the request: ${maxConcurrent} requests run already. Try again in a second`, {
        retryAfterMs: 1000,
      });
    }
    const { outgoing } = c.env;
    let cut: NodeJS.Timeout | undefined;
    running++;
    outgoing.once("close", () => {
      running--;
      clearTimeout(cut);
    });
    await next();
    if (!outgoing.closed) cut = setTimeout(() => outgoing.destroy(), answerMs);
  });
}
