import { createHash } from "node:crypto";
import { RecentMap, unlessAborted } from "@rockbot/base";
import { registerSecret } from "@rockbot/base/redaction";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { askTokenEndpoint, describeUrl, type PublicFetch } from "@rockbot/edge/outbound";

/** Where a client gets its access tokens, and for what: RFC 6749, 4.4. */
export interface ClientGrant {
  readonly tokenUrl: string;
  /** Separated by blanks. */
  readonly scope: string | undefined;
}

/** As much of it as one of those says who name it: the file of REST tools, and an OpenAPI document. */
export type SaidGrant = Pick<ClientGrant, "scope"> & { readonly tokenUrl: string | undefined };

interface AccessToken {
  readonly token: string;
  /** The end of the token, on the clock of `performance.now()`. */
  readonly endsAt: number;
}

export interface GetTokenOptions {
  readonly signal: AbortSignal;
  /** Tokens that the API has refused: another one is needed. */
  readonly stale?: ReadonlySet<string> | undefined;
}

/** A token is renewed so long before its end, or a tenth of its life before: it has to last for the request. */
const MARGIN_S = 60;
/** The lifetime of a token whose answer names no end. */
const UNSAID_S = 300;
const MOST_TOKENS = 1_000;

/**
 * Access tokens of clients, kept until they end. One renewal of a token at a time; who needs it meanwhile waits for
 * that one.
 */
export class ClientTokens {
  readonly #fetch: PublicFetch;
  readonly #tokens = new RecentMap<string, AccessToken>(MOST_TOKENS);
  readonly #renewals = new Map<string, Promise<AccessToken>>();

  constructor(fetch: PublicFetch) {
    this.#fetch = fetch;
  }

  /**
   * @param client its id and secret, with a colon in between
   * @throws {ToolError} `denied` if the endpoint refuses the client, else `unavailable` or `rate_limited`; the signal's
   * reason
   */
  async get(grant: ClientGrant, client: string, { signal, stale }: GetTokenOptions): Promise<string> {
    const key = createHash("sha256")
      .update(JSON.stringify([grant.tokenUrl, grant.scope, client]))
      .digest("base64url");
    const kept = this.#tokens.get(key);
    if (kept !== undefined && kept.endsAt > performance.now() && stale?.has(kept.token) !== true) return kept.token;
    const renewal =
      this.#renewals.get(key) ?? this.#renew(key, grant, client).finally(() => this.#renewals.delete(key));
    this.#renewals.set(key, renewal);
    return (await unlessAborted(renewal, signal)).token;
  }

  /** A caller that gives up does not end it: others may wait for it. */
  async #renew(key: string, { tokenUrl, scope }: ClientGrant, client: string): Promise<AccessToken> {
    const form = { grant_type: "client_credentials", ...(scope === undefined ? {} : { scope }) };
    const askedAt = performance.now();
    const answer = await askTokenEndpoint(this.#fetch, {
      url: tokenUrl,
      form,
      headers: { authorization: basic(client) },
    });
    const { access_token: token, expires_in: seconds } = answer.body;
    if (answer.status !== 200 || typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token))
      throw refused(tokenUrl, answer);
    registerSecret(token);
    const lifeS = typeof seconds === "number" && seconds > 0 ? seconds : UNSAID_S;
    const renewed = { token, endsAt: askedAt + (lifeS - Math.min(MARGIN_S, lifeS / 10)) * 1_000 };
    this.#tokens.set(key, renewed);
    return renewed;
  }
}

/** Both parts are encoded before they are joined: RFC 6749, 2.3.1. */
function basic(client: string): string {
  const at = client.indexOf(":");
  const [id, secret] = [client.slice(0, at), client.slice(at + 1)].map((part) =>
    new URLSearchParams([["", part]]).toString().slice(1),
  );
  return `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`;
}

function refused(
  tokenUrl: string,
  { status, body, retryAfterMs }: Awaited<ReturnType<typeof askTokenEndpoint>>,
): ToolError {
  const error = typeof body["error"] === "string" && /^[a-z_]{1,40}$/.test(body["error"]) ? ` (${body["error"]})` : "";
  const words = `Nothing was sent: ${describeUrl(new URL(tokenUrl))} gives no token, status ${status}${error}`;
  const details = { status, mayHaveRun: false };
  if (status === 429)
    return new ToolError(ToolErrorCode.RateLimited, `${words}. Wait before you try again.`, { retryAfterMs, details });
  if (status >= 400 && status < 500)
    return new ToolError(
      ToolErrorCode.Denied,
      `${words}. An operator has to check the client's id, secret and scope.`,
      {
        details: { ...details, reason: "no_credential" },
      },
    );
  return new ToolError(ToolErrorCode.Unavailable, `${words}. Try again later.`, { retryAfterMs, details });
}
