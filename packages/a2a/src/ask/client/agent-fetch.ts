import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { PublicFetch, PublicResponse } from "@rockbot/edge/outbound";
import { readVariable } from "@rockbot/process/config";
import type { AgentCredential, KnownAgent } from "../agents/known-agent.ts";
import { mendAnswers } from "./mend-answers.ts";

export interface AgentFetchParts {
  readonly fetch: PublicFetch;
  /** Where the values of credentials are. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * `fetch` for the SDK: the one way on which requests go out to an agent. The SDK asks whatever address a card names,
 * reads without bounds, and would follow redirects with all headers. This goes to the agent's origins only, adds the
 * credential there, follows nothing, and reads as much as `fetch` allows.
 */
export function agentFetch(
  { name, origins, credential }: KnownAgent,
  { fetch, env }: AgentFetchParts,
): typeof globalThis.fetch {
  const send = async (
    input: string | URL,
    { method = "GET", headers, body, signal }: RequestInit = {},
  ): Promise<Response> => {
    const url = new URL(input);
    if (!origins.has(url.origin))
      throw denied(`Nothing was sent to the agent "${name}": ${url.origin} is not one of its origins.`);
    const own = Object.fromEntries(new Headers(headers ?? {}));
    const response = await fetch(url.href, {
      method: method as "GET" | "POST" | "DELETE",
      body: typeof body === "string" ? body : undefined,
      signal: signal ?? undefined,
      maxRedirects: 0,
      // What comes compressed could become anything: the bound counts what is read.
      headers: {
        ...own,
        "accept-encoding": "identity",
        ...(credential === undefined ? {} : { [credential.header]: credentialFor(name, credential, env) }),
      },
    });
    const refusal = refusalOf(name, response);
    if (refusal !== undefined) {
      await response[Symbol.asyncDispose]();
      throw refusal;
    }
    const isEmpty = [204, 205, 304].includes(response.status);
    const type = response.header("content-type") ?? "application/octet-stream";
    const answer = mendAnswers(chunksOf(response), { isStream: type.startsWith("text/event-stream") });
    return new Response(isEmpty ? null : ReadableStream.from(answer), {
      status: response.status,
      headers: { "content-type": type },
    });
  };
  return send as typeof globalThis.fetch;
}

async function* chunksOf(response: PublicResponse): AsyncGenerator<Uint8Array> {
  await using _response = response;
  yield* response.chunks();
}

/** What the SDK would make worse words of. */
function refusalOf(name: string, response: PublicResponse): ToolError | undefined {
  const { status } = response;
  if (status >= 300 && status < 400)
    return new ToolError(
      ToolErrorCode.ExecutionFailed,
      `The agent "${name}" redirects the request to another place, which is not followed. An operator has to check its "url" in the file.`,
    );
  if (status === 401 || status === 403)
    return denied(
      `The agent "${name}" refuses the request with status ${status}: its credential is missing, wrong, or has no right to this. An operator has to check it.`,
    );
  if (status === 429)
    return new ToolError(
      ToolErrorCode.RateLimited,
      `The agent "${name}" takes no more requests now. Wait before you try again.`,
      {
        retryAfterMs: response.retryAfterMs,
        details: { mayHaveRun: false, status },
      },
    );
  const encoding = response.header("content-encoding") ?? "identity";
  if (encoding !== "identity")
    return new ToolError(
      ToolErrorCode.OutcomeUnknown,
      `The agent "${name}" answered in an encoding that was not asked for. It may have begun the task.`,
    );
  return undefined;
}

function credentialFor(name: string, { type, env: variable }: AgentCredential, env: AgentFetchParts["env"]): string {
  const value = readVariable(variable, env);
  if (value === undefined)
    throw denied(
      `Nothing was sent to the agent "${name}": the variable ${variable} with its credential is not set. An operator sets it.`,
    );
  if (!/^[\x21-\x7e][\x20-\x7e]*$/.test(value))
    throw denied(
      `Nothing was sent to the agent "${name}": its credential has characters that no HTTP header can carry. An operator has to correct it.`,
    );
  if (type === "api_key") return value;
  return type === "basic" ? `Basic ${Buffer.from(value).toString("base64")}` : `Bearer ${value}`;
}

const denied = (words: string): ToolError =>
  new ToolError(ToolErrorCode.Denied, words, { details: { mayHaveRun: false, reason: "no_credential" } });
