import { generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Adapter, AdapterPayload } from "oidc-provider";

export interface AuthorizationServer extends AsyncDisposable {
  readonly issuer: string;
  /** A client that may use the client-credentials grant, for the scopes `tools` and `admin`, not for `everything`. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** Tokens given out so far. */
  readonly tokens: readonly string[];
  /** The scopes that were asked for, for each token. */
  readonly scopes: readonly string[];
  /** Requests for a token that were refused, by the error that they were answered with. */
  readonly refusals: readonly string[];
  /** Tells whether it issued a token for the resource, and the token is neither expired nor revoked. */
  isValid(token: string, resource: string): Promise<boolean>;
  /** Revokes what it has given out: clients have to come again. */
  revokeAll(): Promise<void>;
}

export interface StartAuthorizationServerOptions {
  /** How long a token lives. @default 3600 */
  readonly tokenSeconds?: number;
}

/**
 * An OAuth authorization server (the certified `oidc-provider`) on a free port of 127.0.0.1, with tokens that mean
 * nothing to those who carry them.
 */
// Long because: a server is set up from top to bottom, then come the short operations on it
export async function startAuthorizationServer({
  tokenSeconds = 3600,
}: StartAuthorizationServerOptions = {}): Promise<AuthorizationServer> {
  const { Provider } = await import("oidc-provider"); // long to load, and few tests need it
  const http = createServer();
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const records = new Map<string, AdapterPayload>();
  const [clientId, clientSecret] = ["rockbot-tested", `canary-${randomUUID()}`];
  const provider = new Provider(issuer, {
    adapter: (kind) => memoryOf(records, kind),
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
        scope: "tools admin",
        token_endpoint_auth_method: "client_secret_basic",
      },
    ],
    jwks: {
      keys: [
        {
          ...generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" }),
          use: "sig",
          kid: "test",
        },
      ],
    } as never,
    cookies: { keys: [randomUUID()] },
    scopes: ["tools", "admin", "everything"],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => `${issuer}/nobody`,
        getResourceServerInfo: () => ({
          scope: "tools admin",
          accessTokenTTL: tokenSeconds,
          accessTokenFormat: "opaque",
        }),
      },
    },
    ttl: { ClientCredentials: tokenSeconds },
  });
  const tokens: string[] = [];
  const refusals: string[] = [];
  const scopes: string[] = [];
  provider.on("grant.success", ({ body, oidc }) => {
    tokens.push(String((body as { access_token?: unknown }).access_token));
    scopes.push(String(oidc.params?.["scope"] ?? ""));
  });
  provider.on("grant.error", (_, error) => refusals.push(error.error));
  http.on("request", provider.callback());

  const find = (token: string) => provider.ClientCredentials.find(token);
  return {
    issuer,
    clientId,
    clientSecret,
    tokens,
    scopes,
    refusals,
    async isValid(token, resource) {
      const found = await find(token);
      return found !== undefined && !found.isExpired && [found.aud].flat().includes(resource);
    },
    async revokeAll() {
      for (const token of tokens) await (await find(token))?.destroy();
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => http.close(resolve));
      http.closeAllConnections();
      await closed;
    },
  };
}

/** What the provider keeps: records by kind and id. */
function memoryOf(records: Map<string, AdapterPayload>, kind: string): Adapter {
  const find = async (id: string) => records.get(`${kind} ${id}`);
  return {
    async upsert(id, payload) {
      records.set(`${kind} ${id}`, payload);
    },
    find,
    findByUid: find,
    findByUserCode: find,
    async consume() {},
    async destroy(id) {
      records.delete(`${kind} ${id}`);
    },
    async revokeByGrantId() {},
  };
}
