import {
  ClientCredentialsProvider,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { registerSecret } from "@rockbot/base/redaction";
import { boundedFetch } from "./remote/bounded-fetch.ts";
import { WebSocketTransport } from "./remote/web-socket-transport.ts";
import type { McpServerAddress, RemoteAddress } from "./server-options.ts";
import { StdioTransport } from "./stdio/stdio-transport.ts";

export type TransportType = Exclude<McpServerAddress["type"], "auto">;

/** A transport that is not started yet. `type` says which of them, for an address that leaves it open. */
export function createTransport(address: McpServerAddress, type: TransportType): Transport {
  if (address.type === "stdio") return new StdioTransport(address);
  if (type === "websocket" && address.guard !== undefined)
    throw new TypeError("Cannot connect by a WebSocket: its address is a stranger's");
  if (type === "websocket") return new WebSocketTransport(address.url, address.headers);
  const url = new URL(address.url);
  const authProvider = credentialsOf(address);
  const options = {
    fetch: boundedFetch({ answersPosts: type === "http", guard: address.guard }),
    requestInit: { headers: { ...address.headers } },
    ...(authProvider === undefined ? {} : { authProvider }),
  };
  if (type === "sse") return new SSEClientTransport(url, options);
  return new StreamableHTTPClientTransport(url, {
    ...options,
    redirectPolicy: "same-origin",
    onInsufficientScope: "throw",
    // A stream of notifications that broke is opened again; a call whose stream broke is lost with it.
    reconnectionOptions: {
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 60_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 10,
    },
  });
}

/** Tokens are secrets of this process from the moment it gets them, and forgotten when they are refused. */
class SecretTokens extends ClientCredentialsProvider {
  #tokens: ReturnType<ClientCredentialsProvider["tokens"]>;

  /** The scopes that the operator has set are asked for, not those that the server says it wants. */
  override prepareTokenRequest(wanted?: string): URLSearchParams {
    return super.prepareTokenRequest(this.clientMetadata.scope ?? wanted);
  }

  override tokens(): ReturnType<ClientCredentialsProvider["tokens"]> {
    return this.#tokens;
  }

  override saveTokens(tokens: Parameters<ClientCredentialsProvider["saveTokens"]>[0]): void {
    registerSecret(tokens.access_token);
    if (tokens.refresh_token !== undefined) registerSecret(tokens.refresh_token);
    this.#tokens = tokens;
  }

  invalidateCredentials(): void {
    this.#tokens = undefined; // the client's own credentials are the operator's to change
  }
}

function credentialsOf({ oauth }: RemoteAddress): ClientCredentialsProvider | undefined {
  if (oauth === undefined) return undefined;
  const { clientId, clientSecret, scope, issuer } = oauth;
  return new SecretTokens({
    clientId,
    clientSecret,
    expectedIssuer: issuer,
    clientName: "rockbot",
    ...(scope === undefined ? {} : { scope }),
  });
}
