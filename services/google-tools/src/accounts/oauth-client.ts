import { isRecord } from "@rockbot/base";
import { parseJson, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { askTokenEndpoint, type PublicFetch, type TokenEndpointAnswer } from "@rockbot/edge/outbound";

/** The OAuth client that the operator registered, and where tokens come from. */
export interface OAuthClientOptions {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Scheme, host and port. */
  readonly tokenBaseUrl: string;
  readonly fetch: PublicFetch;
}

/** The token endpoint's answer. */
export interface TokenAnswer {
  readonly accessToken: string;
  readonly expiresInSeconds: number;
  /** The scopes that the person left ticked; undefined if the answer names none: all those asked for are granted. */
  readonly scopes: readonly string[] | undefined;
  /** Undefined where the one before stays valid. */
  readonly refreshToken: string | undefined;
  /** The mail address of the person who consented, if `email` was among the scopes. */
  readonly email: string | undefined;
}

/** The consent is gone: taken back, or too old. */
export class GrantRevokedError extends Error {
  override readonly name = "GrantRevokedError";
}

/**
 * Google's token endpoint, as an installed program uses it.
 * @see https://developers.google.com/identity/protocols/oauth2/native-app
 */
export class OAuthClient {
  readonly #options: OAuthClientOptions;

  constructor(options: OAuthClientOptions) {
    this.#options = options;
  }

  get clientId(): string {
    return this.#options.clientId;
  }

  /**
   * Tokens for a code of the page of consent.
   * @throws {GrantRevokedError} if the code is not valid
   * @throws {ToolError}
   */
  exchange(code: string, verifier: string, redirectUri: string, signal?: AbortSignal): Promise<TokenAnswer> {
    return this.#ask(
      { grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: redirectUri },
      signal,
    );
  }

  /** A new access token. @throws {GrantRevokedError} @throws {ToolError} `unavailable` or `rate_limited` */
  refresh(refreshToken: string): Promise<TokenAnswer> {
    return this.#ask({ grant_type: "refresh_token", refresh_token: refreshToken });
  }

  /** Takes the consent back. @returns false if Google did not know the token any more @throws {ToolError} */
  async revoke(token: string): Promise<boolean> {
    const { status } = await this.#post("/revoke", { token });
    if (status === 200 || status === 400) return status === 200;
    throw new ToolError(ToolErrorCode.Unavailable, `Cannot revoke the consent: Google answered with status ${status}.`);
  }

  async #ask(form: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<TokenAnswer> {
    const { clientId, clientSecret } = this.#options;
    const { status, body, retryAfterMs } = await this.#post(
      "/token",
      { ...form, client_id: clientId, client_secret: clientSecret },
      signal,
    );
    const error = body["error"];
    if (status === 200 && typeof body["access_token"] === "string" && typeof body["expires_in"] === "number")
      return answerOf(body);
    if (error === "invalid_grant") throw new GrantRevokedError("Google does not know the consent any more");
    if (error === "invalid_client" || error === "unauthorized_client") {
      const message =
        "Cannot get a token: Google does not know the OAuth client. The operator has to correct GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET.";
      throw new ToolError(ToolErrorCode.Unavailable, message, { isRetryable: false });
    }
    const code = status === 429 ? ToolErrorCode.RateLimited : ToolErrorCode.Unavailable;
    throw new ToolError(code, `Cannot get a token: Google answered with status ${status}. Try again later.`, {
      retryAfterMs,
      details: { status },
    });
  }

  #post(path: string, form: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<TokenEndpointAnswer> {
    const { tokenBaseUrl, fetch } = this.#options;
    return askTokenEndpoint(fetch, { url: new URL(path, tokenBaseUrl).href, form, signal });
  }
}

function answerOf(body: Readonly<Record<string, unknown>>): TokenAnswer {
  const { access_token, expires_in, scope, refresh_token, id_token } = body;
  return {
    accessToken: String(access_token),
    expiresInSeconds: Number(expires_in),
    scopes: typeof scope === "string" ? scope.split(" ").filter(Boolean) : undefined,
    refreshToken: typeof refresh_token === "string" ? refresh_token : undefined,
    email: typeof id_token === "string" ? emailIn(id_token) : undefined,
  };
}

/** The signature is not checked, as the token came from the token endpoint itself: OpenID Connect Core 3.1.3.7, 6. */
function emailIn(idToken: string): string | undefined {
  const claims = parseJson(Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString());
  const email =
    claims.ok && isRecord(claims.value) && claims.value["email_verified"] === true ? claims.value["email"] : undefined;
  return typeof email === "string" ? email.toLowerCase() : undefined;
}
