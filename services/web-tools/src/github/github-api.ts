import { parseData, ToolError, ToolErrorCode, valueAt } from "@rockbot/contracts";
import { errorBody, type PublicFetch, type PublicResponse } from "@rockbot/edge/outbound";

export interface GithubApiOptions {
  /** Scheme, host, port and path of the REST API. Gets the token, and no other origin does. */
  readonly baseUrl: string;
  readonly token: string | undefined;
  /** Connects to `baseUrl`'s own host only. */
  readonly fetch: PublicFetch;
  /**
   * How many redirects to follow, as from a repository that has moved. With 0 there is nothing where one stands.
   * @default 5
   */
  readonly maxRedirects?: number | undefined;
}

/** GitHub's REST API, for reading. */
export interface GithubApi {
  /**
   * A JSON document; undefined if there is none, or none that the token may see: the API answers both alike.
   * @throws {ToolError} `rate_limited` with the wait, `unavailable` if the API is away or refuses the token,
   * `execution_failed` otherwise
   */
  json(path: string, signal: AbortSignal): Promise<GithubDocument | undefined>;
  /** A file as it is; undefined also for a folder. @throws {ToolError} likewise, and `too_large` */
  raw(path: string, signal: AbortSignal): Promise<Uint8Array | undefined>;
}

export interface GithubDocument {
  readonly value: unknown;
  /** True if a list has a further page. */
  readonly hasNext: boolean;
}

const JSON_TYPE = "application/vnd.github+json";
const RAW_TYPE = "application/vnd.github.raw+json";

/** @see https://docs.github.com/en/rest/using-the-rest-api/getting-started-with-the-rest-api */
export function createGithubApi({ baseUrl, token, fetch, maxRedirects = 5 }: GithubApiOptions): GithubApi {
  const root = baseUrl.replace(/\/+$/, "");
  const common = {
    "x-github-api-version": "2022-11-28",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };

  async function ask<T>(
    path: string,
    accept: string,
    signal: AbortSignal,
    read: (response: PublicResponse) => Promise<T>,
  ): Promise<T | undefined> {
    await using response = await fetch(root + path, { signal, maxRedirects, headers: { accept, ...common } });
    if (response.status === 200) return await read(response);
    if (response.status === 404 || (response.status >= 300 && response.status < 400)) return undefined;
    throw await githubError(response);
  }

  return {
    json: (path, signal) =>
      ask(path, JSON_TYPE, signal, async (response) => {
        const parsed = parseData(new TextDecoder().decode((await response.body()).bytes));
        if (!parsed.ok) throw malformedAnswer();
        return { value: parsed.value, hasNext: /;\s*rel="?next"?/i.test(response.header("link") ?? "") };
      }),
    raw: (path, signal) =>
      ask(path, RAW_TYPE, signal, async (response) => {
        const isFile = !/^application\/json\b/i.test(response.header("content-type") ?? "");
        return isFile ? (await response.body()).bytes : undefined;
      }),
  };
}

/** The answer has another form than GitHub documents, as that of a proxy between has. */
export const malformedAnswer = (): ToolError =>
  new ToolError(
    ToolErrorCode.Unavailable,
    "Cannot read GitHub: its API's answer is not what it documents. Try again later.",
  );

/** The wait that GitHub asks for where a limit names none. */
const MINUTE_MS = 60_000;

async function githubError(response: PublicResponse): Promise<ToolError> {
  const { status } = response;
  const details = { status };
  const said = await messageOf(response);
  const waitMs = limitMs(response, said);
  if (waitMs !== undefined) {
    return new ToolError(
      ToolErrorCode.RateLimited,
      `Cannot read GitHub: the limit of its API is reached. Try again in ${Math.ceil(waitMs / 1000)} s, or read another site meanwhile.`,
      { retryAfterMs: waitMs, details },
    );
  }
  if (status === 401) {
    return new ToolError(
      ToolErrorCode.Unavailable,
      "Cannot read GitHub: its API refuses the token (status 401). The operator has to set a valid GITHUB_TOKEN.",
      {
        isRetryable: false,
        details,
      },
    );
  }
  if (status >= 500) {
    return new ToolError(
      ToolErrorCode.Unavailable,
      `Cannot read GitHub: its API answered with status ${status}. Try again later.`,
      {
        retryAfterMs: response.retryAfterMs,
        details,
      },
    );
  }
  const why = {
    403: ", which means that the token may not read this",
    410: ", which means that it was deleted or is switched off",
    451: ", for legal reasons",
  }[status];
  return new ToolError(
    ToolErrorCode.ExecutionFailed,
    `Cannot read GitHub: its API answered with status ${status}${why ?? ""}.`,
    { details },
  );
}

/**
 * The wait for a limit; undefined if the answer is about something else. A secondary limit has Retry-After, a primary
 * one the second at which it is over.
 * @see https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
 */
function limitMs({ status, header, retryAfterMs }: PublicResponse, said: string): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  if (retryAfterMs !== undefined) return retryAfterMs;
  const reset = Number(header("x-ratelimit-reset"));
  if (header("x-ratelimit-remaining") === "0" && Number.isInteger(reset) && reset > 0) {
    const now = Date.parse(header("date") ?? "") || Date.now(); // by GitHub's clock, as the other time is
    return Math.min(Math.max(1_000, reset * 1_000 - now), 24 * 60 * MINUTE_MS);
  }
  return status === 429 || /rate limit|abuse/i.test(said) ? MINUTE_MS : undefined;
}

async function messageOf(response: PublicResponse): Promise<string> {
  const message = valueAt(await errorBody(response), "/message");
  return typeof message === "string" ? message.slice(0, 1_000) : "";
}
