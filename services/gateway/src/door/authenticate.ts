import { ToolError } from "@rockbot/contracts";
import { bearerOf, createTokenCheck } from "@rockbot/edge/inbound";
import { callerTokens, type PolicyHolder } from "@rockbot/policy";
import { HttpErrorCode } from "../http/http-error.ts";

export interface AuthenticateOptions {
  /** The one token of everybody as it is now, as long as the policy has none. A client that shows it is the gateway's own agent. */
  readonly token: (() => string | undefined) | undefined;
  /** Whose tokens say who calls. */
  readonly policy: Pick<PolicyHolder, "current"> | undefined;
  /** Whether requests are taken without a token if there is none to show. */
  readonly isOpen: boolean;
  /** Unix milliseconds. @default Date.now */
  readonly clock?: (() => number) | undefined;
}

/** The sender of a request: a caller of the policy, or undefined for the gateway's own agent. */
export type Authenticate = (authorization: string | undefined) => string | undefined;

/**
 * Tells callers by their bearer tokens. A policy that has tokens is the only one that counts: the single token would be a way around it. The policy
 * of now holds for the next request.
 */
export function createAuthenticator({ token, policy, isOpen, clock = Date.now }: AuthenticateOptions): Authenticate {
  const isToken = token === undefined ? undefined : createTokenCheck(token);
  return (authorization) => {
    const presented = bearerOf(authorization);
    const tokens = policy === undefined ? undefined : callerTokens(policy.current().document);
    if (tokens !== undefined && tokens.size > 0) {
      if (presented === undefined) throw unauthorized("no bearer token came with it", "one of the policy's tokens");
      const found = tokens.find(presented, clock());
      if (found === undefined) throw unauthorized("its bearer token is nobody's", "one of the policy's tokens");
      if (found.isExpired) throw unauthorized("its bearer token has expired", "a newer one");
      return found.holder;
    }
    if (isToken === undefined && isOpen) return undefined;
    if (presented !== undefined && isToken?.(presented)) return undefined;
    throw unauthorized(presented === undefined ? "no bearer token came with it" : "its bearer token is not this gateway's", "the gateway's token");
  };
}

const unauthorized = (why: string, what: string): ToolError =>
  new ToolError(HttpErrorCode.Unauthorized, `Cannot answer the request: ${why}. Send "Authorization: Bearer TOKEN" with ${what}`);
