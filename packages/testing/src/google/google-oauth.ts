import { createHash, randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { GoogleError } from "./google-error.ts";

interface Grant {
  readonly account: string;
  readonly scopes: readonly string[];
}

/** The one client that is known. @default random texts */
export interface OAuthClientFacts {
  readonly id?: string;
  readonly secret?: string;
}

interface Code extends Grant {
  readonly redirectUri: string;
  readonly challenge: string;
}

const CONSENT = "/o/oauth2/v2/auth";
const TOKEN = "/token";
const REVOKE = "/revoke";

/**
 * Google's authorization server: the page of consent, whose person is `consent`, and the endpoints for tokens and for
 * revocation.
 */
export class GoogleOAuth {
  readonly clientId: string;
  readonly clientSecret: string;
  /** The person at the page of consent: the account that signs in, the scopes that are not ticked, or a refusal. */
  consent: { account: string; withheld?: readonly string[]; isRefused?: boolean } = { account: "" };
  /** How long an access token lives. */
  tokenSeconds = 3_599;
  /** The grants of access tokens that were asked for: `authorization_code` or `refresh_token`. */
  readonly grants: string[] = [];
  /** The statuses of the next answers of the token endpoint, in place of tokens. */
  readonly faults: number[] = [];
  readonly #accounts: Readonly<Record<string, unknown>>;
  readonly #codes = new Map<string, Code>();
  readonly #refreshTokens = new Map<string, Grant>();
  readonly #accessTokens = new Map<string, Grant & { readonly until: number }>();

  constructor(accounts: Readonly<Record<string, unknown>>, { id, secret }: OAuthClientFacts = {}) {
    this.#accounts = accounts;
    this.clientId = id ?? `${randomUUID()}.apps.googleusercontent.com`;
    this.clientSecret = secret ?? `GOCSPX-${randomUUID()}`;
  }

  owns(path: string): boolean {
    return path === CONSENT || path === TOKEN || path === REVOKE;
  }

  /** A refresh token as a person would get it by consent. */
  refreshTokenOf(account: string, ...scopes: readonly string[]): string {
    const token = `1//${randomUUID()}`;
    this.#refreshTokens.set(token, {
      account,
      scopes: scopes.map((scope) => `https://www.googleapis.com/auth/${scope}`),
    });
    return token;
  }

  /** What a person does on the page of their account: takes back all that was granted. */
  revokeAll(account: string): void {
    for (const tokens of [this.#refreshTokens, this.#accessTokens])
      for (const [token, grant] of tokens) if (grant.account === account) tokens.delete(token);
  }

  /** Access tokens end at once; refresh tokens stay. */
  expireAll(): void {
    this.#accessTokens.clear();
  }

  isKnown(refreshToken: string): boolean {
    return this.#refreshTokens.has(refreshToken);
  }

  /** @throws {GoogleError} 401 if the header has no token that is valid now */
  grantOf(authorization: string | undefined): Grant {
    const grant = this.#accessTokens.get(/^Bearer (.+)$/.exec(authorization ?? "")?.[1] ?? "");
    if (grant !== undefined && grant.until > Date.now()) return grant;
    throw new GoogleError(
      401,
      "authError",
      "Request had invalid authentication credentials. Expected OAuth 2 access token.",
    );
  }

  answer(request: IncomingMessage, url: URL, body: string, response: ServerResponse): void {
    if (url.pathname === CONSENT) this.#consent(url, response);
    else this.#answerForm(request, url, body, response);
  }

  #answerForm(request: IncomingMessage, url: URL, body: string, response: ServerResponse): void {
    const isForm =
      request.method === "POST" &&
      request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded") === true;
    if (!isForm)
      return void reply(response, 400, { error: "invalid_request", error_description: "expected a form by POST" });
    const form = new URLSearchParams(body);
    if (url.pathname === REVOKE) return void this.#revoke(form, response);
    const fault = this.faults.shift();
    if (fault !== undefined) return void reply(response, fault, { error: "internal_failure" });
    this.#token(form, response);
  }

  /** The page as its person leaves it: a redirect to the program. */
  #consent(url: URL, response: ServerResponse): void {
    const of = (name: string): string => url.searchParams.get(name) ?? "";
    const redirect = URL.parse(of("redirect_uri"));
    const scopes = of("scope").split(" ").filter(Boolean);
    const faults = [
      ...(of("client_id") === this.clientId ? [] : ["invalid_client"]),
      ...(redirect?.protocol === "http:" && ["127.0.0.1", "[::1]"].includes(redirect.hostname)
        ? []
        : ["redirect_uri_mismatch"]),
      ...(of("response_type") === "code" ? [] : ["response_type"]),
      ...(of("code_challenge_method") === "S256" && /^[A-Za-z0-9_-]{43}$/.test(of("code_challenge"))
        ? []
        : ["code_challenge"]),
      ...(scopes.length > 0 && scopes.every(isScope) ? [] : ["invalid_scope"]),
      ...(of("state").length >= 16 ? [] : ["state"]),
    ];
    if (faults.length > 0 || redirect === null)
      return void response.writeHead(400, { "content-type": "text/plain" }).end(`Error 400: ${faults.join(", ")}`);
    const { account, withheld = [], isRefused = false } = this.consent;
    redirect.searchParams.set("state", of("state"));
    if (isRefused || this.#accounts[account] === undefined) {
      redirect.searchParams.set("error", "access_denied");
    } else {
      const code = `4/${randomUUID()}`;
      const granted = scopes.filter((scope) => !withheld.includes(scope));
      this.#codes.set(code, {
        account,
        scopes: granted,
        redirectUri: of("redirect_uri"),
        challenge: of("code_challenge"),
      });
      redirect.searchParams.set("code", code);
      redirect.searchParams.set("scope", granted.join(" "));
    }
    response.writeHead(302, { location: redirect.href }).end();
  }

  #token(form: URLSearchParams, response: ServerResponse): void {
    const of = (name: string): string => form.get(name) ?? "";
    if (of("client_id") !== this.clientId || of("client_secret") !== this.clientSecret) {
      return void reply(response, 401, {
        error: "invalid_client",
        error_description: "The OAuth client was not found.",
      });
    }
    const grant =
      of("grant_type") === "authorization_code" ? this.#exchanged(form) : this.#refreshTokens.get(of("refresh_token"));
    if (!["authorization_code", "refresh_token"].includes(of("grant_type")))
      return void reply(response, 400, { error: "unsupported_grant_type" });
    if (grant === undefined)
      return void reply(response, 400, {
        error: "invalid_grant",
        error_description: "Token has been expired or revoked.",
      });
    this.grants.push(of("grant_type"));
    const accessToken = `ya29.${randomUUID()}`;
    this.#accessTokens.set(accessToken, {
      account: grant.account,
      scopes: grant.scopes,
      until: Date.now() + this.tokenSeconds * 1_000,
    });
    const isFirst = of("grant_type") === "authorization_code";
    const refreshToken = `1//${randomUUID()}`;
    if (isFirst) this.#refreshTokens.set(refreshToken, { account: grant.account, scopes: grant.scopes });
    reply(response, 200, {
      access_token: accessToken,
      expires_in: this.tokenSeconds,
      scope: grant.scopes.join(" "),
      token_type: "Bearer",
      ...(isFirst ? { refresh_token: refreshToken } : {}),
      ...(grant.scopes.includes("email") ? { id_token: this.#idToken(grant.account) } : {}),
    });
  }

  #exchanged(form: URLSearchParams): Grant | undefined {
    const code = this.#codes.get(form.get("code") ?? "");
    this.#codes.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isRight =
      code?.redirectUri === form.get("redirect_uri") &&
      code?.challenge === challenge &&
      (form.get("code_verifier") ?? "").length >= 43;
    return isRight ? code : undefined;
  }

  #idToken(account: string): string {
    const claims = {
      iss: "https://accounts.google.com",
      aud: this.clientId,
      email: account,
      email_verified: true,
      exp: Math.floor(Date.now() / 1_000) + 3_600,
    };
    return [{ alg: "RS256" }, claims, "signature"]
      .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
      .join(".");
  }

  #revoke(form: URLSearchParams, response: ServerResponse): void {
    const token = form.get("token") ?? "";
    const grant = this.#refreshTokens.get(token) ?? this.#accessTokens.get(token);
    if (grant === undefined) return void reply(response, 400, { error: "invalid_token" });
    this.#refreshTokens.delete(token);
    reply(response, 200, {});
  }
}

const isScope = (scope: string): boolean =>
  scope === "openid" || scope === "email" || scope.startsWith("https://www.googleapis.com/auth/");

const reply = (response: ServerResponse, status: number, body: object): ServerResponse =>
  response
    .writeHead(status, { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" })
    .end(JSON.stringify(body));
