import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { GrantRevokedError, type OAuthClient } from "../accounts/oauth-client.ts";
import { type Product, products } from "../accounts/products.ts";
import type { TokenStore } from "../accounts/token-store.ts";

/** The person did not log in, or not as was asked. The message is for that person. */
export class LoginError extends Error {
  override readonly name = "LoginError";
}

export interface LogInOptions {
  readonly product: Product;
  readonly oauth: OAuthClient;
  readonly store: TokenStore;
  /** Scheme, host and port of the page of consent. */
  readonly consentBaseUrl: string;
  /** The account that is to log in. @default any */
  readonly account?: string | undefined;
  /** True to ask for reading only. @default false */
  readonly readOnly?: boolean | undefined;
  /** Called with the address of the page that the person opens. */
  readonly onUrl: (url: string) => void;
  /** Ends the wait for the person. */
  readonly signal: AbortSignal;
}

export interface LoggedIn {
  readonly account: string;
  /** Asked for, and not granted. */
  readonly missing: readonly string[];
}

/**
 * Has a person consent in a browser on this machine, and keeps the tokens. The browser comes back to a free port of
 * 127.0.0.1, as RFC 8252 has it.
 * @throws {LoginError} if the person refuses, or another account logs in @throws {ToolError} if Google gives no token
 */
export async function logIn({
  product,
  oauth,
  store,
  consentBaseUrl,
  account,
  readOnly = false,
  onUrl,
  signal,
}: LogInOptions): Promise<LoggedIn> {
  const { title, scopes: of } = products[product];
  const wanted = readOnly ? [of.read] : product === "calendar" ? [of.write] : [of.read, of.write];
  const verifier = randomBytes(48).toString("base64url");
  const state = randomBytes(24).toString("base64url");
  const { code, redirectUri } = await answerOfPerson(state, signal, (redirectUri) => {
    const url = new URL("/o/oauth2/v2/auth", consentBaseUrl);
    const query = {
      client_id: oauth.clientId,
      redirect_uri: redirectUri,
      response_type: "code",
      scope: ["openid", "email", ...wanted].join(" "),
      state,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      access_type: "offline",
      prompt: "consent",
      ...(account === undefined ? {} : { login_hint: account }),
    };
    url.search = new URLSearchParams(query).toString();
    onUrl(url.href);
  });
  const tokens = await oauth.exchange(code, verifier, redirectUri, signal).catch((error: unknown) => {
    throw error instanceof GrantRevokedError
      ? new LoginError("Google does not take its own code any more. Log in again")
      : error;
  });
  const { email, refreshToken, accessToken, expiresInSeconds } = tokens;
  if (email === undefined || refreshToken === undefined)
    throw new LoginError("Google's answer lacks the mail address or the token to keep. Log in again");
  const scopes = tokens.scopes ?? wanted;
  const granted = wanted.filter((scope) => scopes.includes(scope));
  const isOther = account !== undefined && account.toLowerCase() !== email;
  if (isOther || granted.length === 0) {
    await oauth.revoke(refreshToken).catch(() => {}); // a token that nobody keeps
    throw new LoginError(
      isOther
        ? `expected ${account}, and ${email} logged in. Nothing is kept`
        : `${email} granted nothing of ${title}. Tick it on the page`,
    );
  }
  await store.write(product, {
    account: email,
    scopes: granted,
    refreshToken,
    access: { token: accessToken, expiresAt: Date.now() + expiresInSeconds * 1_000 },
  });
  return { account: email, missing: wanted.filter((scope) => !granted.includes(scope)) };
}

interface PersonsAnswer {
  readonly code: string;
  readonly redirectUri: string;
}

/** Waits for the redirect with this state. What else comes to the port is answered, and changes nothing. */
async function answerOfPerson(
  state: string,
  signal: AbortSignal,
  onReady: (redirectUri: string) => void,
): Promise<PersonsAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    const query = queryOf(request, state);
    answer(response, query);
    if (query !== undefined) resolve(query);
  });
  server.on("error", (error) =>
    reject(new LoginError(`no port of 127.0.0.1 is free: ${(error as NodeJS.ErrnoException).code}`)),
  );
  const onAbort = (): void => reject(new LoginError("nobody logged in in time, or the command was ended"));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    server.listen(0, "127.0.0.1", () => onReady(uriOf(server.address() as AddressInfo)));
    if (signal.aborted) onAbort();
    const query = await promise;
    const code = query.get("code");
    if (code === null)
      throw new LoginError(`the person refused, or Google did (${(query.get("error") ?? "no code").slice(0, 60)})`);
    return { code, redirectUri: uriOf(server.address() as AddressInfo) };
  } finally {
    signal.removeEventListener("abort", onAbort);
    server.close();
    server.closeIdleConnections();
  }
}

const uriOf = ({ port }: AddressInfo): string => `http://127.0.0.1:${port}/`;

/** The query of a redirect with the right state, so that no other page can log its own account in. */
function queryOf({ method, url = "/" }: IncomingMessage, state: string): URLSearchParams | undefined {
  const parsed = URL.parse(url, "http://127.0.0.1");
  if (method !== "GET" || parsed?.pathname !== "/") return undefined;
  const given = Buffer.from(parsed.searchParams.get("state") ?? "");
  return given.length === state.length && timingSafeEqual(given, Buffer.from(state)) ? parsed.searchParams : undefined;
}

function answer(response: ServerResponse, query: URLSearchParams | undefined): void {
  const text =
    query === undefined
      ? "This is not the page that was waited for."
      : "RockBot has Google's answer. You may close this page, and look at the terminal.";
  response
    .writeHead(query === undefined ? 404 : 200, {
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-store",
      connection: "close",
    })
    .end(`${text}\n`);
}
