import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { jsonBody, type PublicFetch } from "@rockbot/edge/outbound";
import type { AccessTokens } from "../accounts/access-tokens.ts";
import { type AccountChoice, accountOf } from "../accounts/account-of.ts";
import { type Product, products } from "../accounts/products.ts";
import { type ApiAnswer, statusFault } from "./status-fault.ts";

/** How the two APIs are reached. */
export interface GoogleApiOptions extends AccountChoice {
  readonly tokens: AccessTokens;
  readonly fetch: PublicFetch;
  /** Scheme, host and port of each. */
  readonly baseUrls: Readonly<Record<Product, string>>;
}

/** A request to one of the APIs. */
export interface ApiRequest {
  /** Values of one name are sent once for each. */
  readonly query?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Sent as JSON by POST, if there is one. */
  readonly body?: object;
  readonly signal: AbortSignal;
  /** The attempt in words, such as "search the mail". */
  readonly what: string;
}

/** One account's view of one API. */
export interface AccountApi {
  readonly account: string;
  /** Where the API's content comes from, for the mark of untrusted content. */
  readonly origin: string;
  /**
   * @param path of parts, each of which is encoded
   * @throws {ToolError} `invalid_arguments` in the API's words, `rate_limited`, `unavailable`, `denied`;
   * `outcome_unknown` of a request with effects
   */
  ask(path: readonly string[], request: ApiRequest): Promise<Readonly<Record<string, unknown>>>;
}

/** Gmail v1 and Calendar v3. */
export class GoogleApi {
  readonly #options: GoogleApiOptions;

  constructor(options: GoogleApiOptions) {
    this.#options = options;
  }

  /** The API as the account of this caller has it. @throws {ToolError} as `accountOf` */
  async of(caller: string, product: Product): Promise<AccountApi> {
    const account = await accountOf(caller, product, this.#options);
    return {
      account,
      origin: `${products[product].title}: ${account}`,
      ask: (path, request) => this.#ask(product, account, path, request),
    };
  }

  async #ask(
    product: Product,
    account: string,
    path: readonly string[],
    request: ApiRequest,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { tokens } = this.#options;
    const token = await tokens.get(product, account, request.signal);
    const first = await this.#send(product, path, request, token);
    // Google refuses a token before its time when the person changes a password, say.
    const answer =
      first.status === 401
        ? await this.#send(product, path, request, await tokens.get(product, account, request.signal, token))
        : first;
    // No answer of theirs has both: with an error in it, what is missing would seem not to be there.
    if (answer.status === 200 && answer.body !== undefined && !("error" in answer.body)) return answer.body;
    throw statusFault(answer, { ...request, hasEffects: request.body !== undefined, product, account });
  }

  async #send(
    product: Product,
    path: readonly string[],
    { query = {}, body, signal }: ApiRequest,
    token: string,
  ): Promise<ApiAnswer> {
    const { fetch, baseUrls } = this.#options;
    const url = new URL(path.map(pathPart).join("/"), baseUrls[product]);
    for (const [name, values] of Object.entries(query))
      for (const value of [values ?? []].flat()) url.searchParams.append(name, value);
    const headers = {
      accept: "application/json",
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const sent = body === undefined ? {} : ({ method: "POST", body: JSON.stringify(body) } as const);
    await using response = await fetch(url.href, { ...sent, headers, signal, maxRedirects: 0 });
    return { status: response.status, retryAfterMs: response.retryAfterMs, body: await jsonBody(response) };
  }
}

/** A part of a path that stays one. */
function pathPart(part: string): string {
  if (part === "." || part === "..")
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `Cannot ask Google for ${JSON.stringify(part)}: it is not an id.`,
    );
  return encodeURIComponent(part);
}
