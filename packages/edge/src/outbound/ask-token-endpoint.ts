import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { describeUrl } from "./fetch-errors.ts";
import { jsonBody } from "./json-body.ts";
import type { PublicFetch } from "./public-fetch.ts";

export interface TokenEndpointQuestion {
  readonly url: string;
  readonly form: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The endpoint's answer, whatever it is. */
export interface TokenEndpointAnswer {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  /** Empty if it is not a JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Sends a form to an endpoint of OAuth 2 that gives or revokes tokens. A token that was made and got lost has no
 * effect, and the same can be asked again: so the outcome is never unknown.
 * @throws {ToolError} `unavailable` if there is no answer, and as `PublicFetch`
 */
export async function askTokenEndpoint(
  fetch: PublicFetch,
  { url, form, headers = {}, signal }: TokenEndpointQuestion,
): Promise<TokenEndpointAnswer> {
  const sent = { accept: "application/json", "content-type": "application/x-www-form-urlencoded", ...headers };
  try {
    await using response = await fetch(url, {
      method: "POST",
      headers: sent,
      body: new URLSearchParams(form).toString(),
      signal,
    });
    return { status: response.status, retryAfterMs: response.retryAfterMs, body: (await jsonBody(response)) ?? {} };
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== ToolErrorCode.OutcomeUnknown) throw error;
    throw new ToolError(
      ToolErrorCode.Unavailable,
      `Cannot get a token: ${describeUrl(new URL(url))} did not answer. Try again later.`,
      { cause: error },
    );
  }
}
