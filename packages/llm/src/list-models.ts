import { registerSecret } from "@rockbot/base/redaction";
import { ModelError } from "./model-error.ts";
import { baseUrl, kindOf } from "./provider/base-url.ts";

/** A model that a server offers. */
export interface OfferedModel {
  readonly id: string;
  /** The room that the server gives it, where it says so: vLLM, OpenRouter and Groq do, Ollama and OpenAI do not. */
  readonly contextTokens?: number;
}

/** Where the models are. */
export interface ListModelsOptions {
  readonly url: string;
  readonly apiKey?: string | undefined;
  readonly protocol?: "openai" | "anthropic" | undefined;
  readonly signal?: AbortSignal | undefined;
  /** @default 10_000 */
  readonly timeoutMs?: number | undefined;
}

/** A longer list is cut. */
const MOST_MODELS = 2_000;
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * The models that a server offers, in its order. It answers as soon as the server is there, whether or not a model is
 * loaded: so it tells whether one can be asked.
 * @throws {ModelError} if there is no list
 */
export async function listModels({
  url: text,
  apiKey,
  protocol,
  signal,
  timeoutMs = 10_000,
}: ListModelsOptions): Promise<readonly OfferedModel[]> {
  const url = baseUrl(text);
  const late = AbortSignal.timeout(timeoutMs);
  const cannot = `Cannot list the models at ${url.host}`;
  const response = await fetch(`${url.href}/models`, {
    headers: keyHeaders(url, { apiKey, protocol }),
    redirect: "manual",
    signal: signal === undefined ? late : AbortSignal.any([signal, late]),
  }).catch((error: Error) => {
    signal?.throwIfAborted();
    if (late.aborted)
      throw new ModelError("timeout", `${cannot}: no answer within ${timeoutMs / 1000} s`, { cause: error });
    throw new ModelError("unavailable", `${cannot}: ${(error.cause as Error | undefined)?.message ?? error.message}`, {
      cause: error,
    });
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw statusError(response.status, cannot);
  }
  return offered(await bounded(response, cannot), cannot);
}

function statusError(status: number, cannot: string): ModelError {
  if (status === 401 || status === 403)
    return new ModelError("unauthorized", `${cannot}: status ${status}. Check the API key`);
  return new ModelError(
    status === 429 || status >= 500 ? "unavailable" : "invalid_request",
    `${cannot}: status ${status}`,
  );
}

async function bounded(response: Response, cannot: string): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES)
      throw new ModelError("invalid_request", `${cannot}: the list has more than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch (error) {
    throw new ModelError(
      "invalid_request",
      `${cannot}: the answer is not JSON. Check the URL: it ends in /v1 for most servers`,
      { cause: error },
    );
  }
}

function offered(body: unknown, cannot: string): readonly OfferedModel[] {
  const { data } = (body ?? {}) as { data?: unknown };
  if (!Array.isArray(data)) throw new ModelError("invalid_request", `${cannot}: the answer has no list`);
  return data.slice(0, MOST_MODELS).flatMap((entry: Readonly<Record<string, unknown>> | null) => {
    if (typeof entry?.id !== "string") return [];
    const tokens = entry.max_model_len ?? entry.context_length ?? entry.context_window;
    return [{ id: entry.id, ...(typeof tokens === "number" && tokens > 0 && { contextTokens: tokens }) }];
  });
}

/** The headers that show the key. */
function keyHeaders(
  url: URL,
  {
    apiKey = "",
    protocol,
  }: { readonly apiKey?: string | undefined; readonly protocol?: "openai" | "anthropic" | undefined },
) {
  if (apiKey !== "") registerSecret(apiKey);
  const isAnthropic = (protocol ?? (kindOf(url.hostname) === "anthropic" ? "anthropic" : "openai")) === "anthropic";
  if (isAnthropic) return { "anthropic-version": "2023-06-01", ...(apiKey !== "" && { "x-api-key": apiKey }) };
  return apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };
}
