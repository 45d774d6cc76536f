import type { IncomingMessage } from "node:http";
import { bearerOf, createFrontDoor, createTokenCheck, type FrontDoorOptions } from "@rockbot/edge/inbound";

export interface AdmitOptions extends FrontDoorOptions {
  /** The bearer token of now, which each request carries. */
  readonly token: () => string;
}

/** Why a request is not answered, in words for its client. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 404;
  readonly message: string;
}

export const MCP_PATH = "/mcp";

/**
 * Makes the door of a server: it lets a request pass that comes by the front door, goes to its path, and has the token.
 */
export function createDoor({ token, ...names }: AdmitOptions): (request: IncomingMessage) => Refusal | undefined {
  const faultOf = createFrontDoor(names);
  const isToken = createTokenCheck(token);
  return (request) => {
    const fault = faultOf(request);
    if (fault !== undefined) return { status: fault.kind === "malformed" ? 400 : 403, message: fault.message };
    if (request.url?.split("?", 1)[0] !== MCP_PATH)
      return { status: 404, message: `Nothing is served here but MCP, at ${MCP_PATH}` };
    const presented = bearerOf(request.headers.authorization);
    if (presented === undefined)
      return { status: 401, message: 'The request carries no token: send "Authorization: Bearer TOKEN"' };
    return isToken(presented)
      ? undefined
      : { status: 401, message: "The bearer token of the request is not this server's" };
  };
}
