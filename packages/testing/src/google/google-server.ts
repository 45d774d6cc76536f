import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { calendarAnswer } from "./calendar-api.ts";
import { gmailAnswer } from "./gmail-api.ts";
import type { GoogleAccount } from "./google-account.ts";
import { GoogleError } from "./google-error.ts";
import { GoogleOAuth, type OAuthClientFacts } from "./google-oauth.ts";

/** An answer in place of the next one. */
export interface GoogleFault {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** True if the request is carried out before this answer is given. */
  readonly isCarriedOut?: boolean;
}

/** Google's OAuth, Gmail and Calendar, on this machine. */
export interface GoogleServer extends AsyncDisposable {
  /** What to set as each of the base URLs. */
  readonly url: string;
  readonly oauth: GoogleOAuth;
  readonly accounts: Record<string, GoogleAccount>;
  /** Method and path with query of each request to Gmail and Calendar, as they came. */
  readonly requests: readonly string[];
  /** Answers of the next requests to Gmail and Calendar, first come first served. */
  readonly faults: GoogleFault[];
  /** Adds an account. */
  addAccount(address: string): GoogleAccount;
}

const MAX_BODY_BYTES = 50_000_000;

/**
 * A local server of what google-tools uses of Google: OAuth 2.0 for installed programs with PKCE, refresh and
 * revocation, Gmail v1 and Calendar v3. It refuses parameters that it does not know, tokens without the scope of a
 * method, and answers errors in Google's form.
 * @see https://developers.google.com/identity/protocols/oauth2/native-app
 */
export async function startGoogleServer(client?: OAuthClientFacts): Promise<GoogleServer> {
  const requests: string[] = [];
  const faults: GoogleFault[] = [];
  const accounts: Record<string, GoogleAccount> = {};
  const oauth = new GoogleOAuth(accounts, client);
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", "http://localhost");
    const body = await bodyOf(request);
    if (oauth.owns(url.pathname)) return oauth.answer(request, url, body, response);
    requests.push(`${request.method} ${url.pathname}${url.search}`);
    const fault = faults.shift();
    const isAnswered = fault !== undefined && fault.isCarriedOut !== true;
    const value = isAnswered ? undefined : apiAnswer(request, url, body);
    if (fault !== undefined) return void response.writeHead(fault.status, fault.headers).end(fault.body ?? "");
    response.writeHead(200, { "content-type": "application/json; charset=UTF-8" }).end(JSON.stringify(value));
  };
  const apiAnswer = (request: IncomingMessage, url: URL, body: string): unknown => {
    const grant = oauth.grantOf(request.headers.authorization);
    const account = accounts[grant.account] as GoogleAccount;
    const method = request.method ?? "GET";
    if (url.pathname.startsWith("/gmail/v1/users/me/"))
      return gmailAnswer({ account, address: grant.account, scopes: grant.scopes, method, url, body });
    if (url.pathname.startsWith("/calendar/v3/calendars/"))
      return calendarAnswer({ account, address: grant.account, scopes: grant.scopes, method, url, body });
    throw new GoogleError(404, "notFound", "Not Found");
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      const known = error instanceof GoogleError ? error : new GoogleError(500, "backendError", String(error));
      response.writeHead(known.status, { "content-type": "application/json; charset=UTF-8" }).end(known.body());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    oauth,
    accounts,
    requests,
    faults,
    addAccount(address) {
      const account = { messages: [], sent: [], calendars: { primary: [] } };
      accounts[address] = account;
      return account;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new GoogleError(413, "uploadTooLarge", "Request Entity Too Large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
