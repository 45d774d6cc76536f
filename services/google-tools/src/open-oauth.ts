import { createPublicFetch, hostAndPort } from "@rockbot/edge/outbound";
import { OAuthClient } from "./accounts/oauth-client.ts";
import type { GoogleToolsConfig } from "./generated/config.ts";

/** An OAuth client with the connections that it holds open. */
export interface OpenOAuth extends AsyncDisposable {
  readonly client: OAuthClient;
}

const MAX_TOKEN_BYTES = 100_000;

/** The OAuth client that the settings name. @returns undefined if they name none */
export function openOAuth(config: Readonly<GoogleToolsConfig>): OpenOAuth | undefined {
  const {
    googleClientId: clientId,
    googleClientSecret: clientSecret,
    googleTokenBaseUrl: tokenBaseUrl,
    fetchTimeoutMs: timeoutMs,
  } = config;
  if (clientId === undefined || clientSecret === undefined) return undefined;
  const fetch = createPublicFetch({
    allowAddresses: [hostAndPort(tokenBaseUrl)],
    allowPorts: [],
    maxBytes: MAX_TOKEN_BYTES,
    timeoutMs,
    idleTimeoutMs: timeoutMs,
  });
  return {
    client: new OAuthClient({ clientId, clientSecret, tokenBaseUrl, fetch }),
    [Symbol.asyncDispose]: () => fetch[Symbol.asyncDispose](),
  };
}
