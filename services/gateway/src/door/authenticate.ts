import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { bearerOf, createTokenCheck } from "@rockbot/edge/inbound";
import { callerTokens, mayOwnServers, type PolicyHolder } from "@rockbot/policy";
import { HttpErrorCode } from "../http/http-error.ts";

export interface AuthenticateOptions {
  /** The gateway's own agent, as which everybody calls while the policy has no tokens. */
  readonly self: string;
  /**
   * The one token of everybody as it is now, as long as the policy has none. A client that shows it is the gateway's
   * own agent.
   */
  readonly token: (() => string | undefined) | undefined;
  /** Whose tokens say who calls. */
  readonly policy: Pick<PolicyHolder, "current"> | undefined;
  /** True to take requests without a token if no token is configured. */
  readonly isOpen: boolean;
  /** Unix milliseconds. @default Date.now */
  readonly clock?: (() => number) | undefined;
}

/** The sender of a request: a caller of the policy, or undefined for the gateway's own agent. */
export type Authenticate = (authorization: string | undefined) => string | undefined;

/**
 * Tells callers by their bearer tokens. A policy that has tokens is the only one that counts: the single token would be
 * a way around it. The policy of now holds for the next request. Without tokens nobody is let in as an agent that may
 * own servers, as everybody would share them at whichever door.
 */
export function createAuthenticator({
  self,
  token,
  policy,
  isOpen,
  clock = Date.now,
}: AuthenticateOptions): Authenticate {
  const isToken = token === undefined ? undefined : createTokenCheck(token);
  return (authorization) => {
    const presented = bearerOf(authorization);
    const tokens = policy === undefined ? undefined : callerTokens(policy.current().document);
    if (tokens !== undefined && tokens.size > 0) {
      if (presented === undefined) throw unauthorized("no bearer token came with it", "one of the policy's tokens");
      const found = tokens.find(presented, clock());
      if (found === undefined) throw unauthorized("its bearer token is unknown", "one of the policy's tokens");
      if (found.isExpired) throw unauthorized("its bearer token has expired", "a newer one");
      return found.holder;
    }
    const isAnybody = isToken === undefined ? isOpen : presented !== undefined && isToken(presented);
    if (!isAnybody)
      throw unauthorized(
        presented === undefined ? "no bearer token came with it" : "its bearer token is not this gateway's",
        "the gateway's token",
      );
    if (policy === undefined || !mayOwnServers(policy.current(), self)) return undefined;
    const mend = `The operator gives each caller a token in the policy, or names "${self}" under delegates there`;
    throw new ToolError(
      ToolErrorCode.Denied,
      `Cannot answer the request: the policy lets "${self}" register MCP servers, and everybody who asks here is "${self}". ${mend}`,
    );
  };
}

const unauthorized = (why: string, what: string): ToolError =>
  new ToolError(
    HttpErrorCode.Unauthorized,
    `Cannot answer the request: ${why}. Send "Authorization: Bearer TOKEN" with ${what}`,
  );
