import { APICallError, JSONParseError, TypeValidationError } from "@ai-sdk/provider";
import { retryAfterMs } from "@rockbot/base";
import { ModelError, type ModelErrorCode, type ModelErrorOptions } from "../model-error.ts";
import { contextOverflow } from "./context-overflow.ts";

/** What a provider said, wherever it said it: in a status, or in the middle of a stream. */
interface Said {
  readonly status?: number | undefined;
  /** The provider's words for a person. */
  readonly message: string;
  /** All its words, for a program. */
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The most characters of the provider's words that a reader gets. */
const MOST_WORDS = 400;
/** The most characters of them that a program looks at. */
const MOST_TEXT = 20_000;

/** @param subject "model X at host" */
export function toModelError(error: unknown, subject: string): ModelError {
  const own = causes(error).find((cause) => cause instanceof ModelError);
  if (own !== undefined) return own as ModelError;
  if (APICallError.isInstance(error)) return ofCall(error, subject);
  if (TypeValidationError.isInstance(error)) return ofChunk(error.value, subject, error);
  if (error instanceof Error)
    return new ModelError("interrupted", `Cannot read the answer of ${subject}: ${plain(error)}`);
  return ofChunk({ error }, subject, error);
}

/** The SDK's own words are for programmers. */
function plain(error: Error): string {
  const { message } = error;
  if (JSONParseError.isInstance(error)) return "a part of it is not JSON";
  if (/without a finish reason/.test(message)) return "it ended in the middle";
  if (/normalized Anthropic stream error/.test(message)) return "a part of it has an unknown form";
  return /'function.name'/.test(message) ? "it calls a tool without a name" : words(message);
}

function causes(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (let at = error; at instanceof Error && found.length < 10; at = at.cause) found.push(at);
  return found;
}

function ofCall(error: APICallError, subject: string): ModelError {
  const { statusCode: status, responseBody = "", responseHeaders: headers, message } = error;
  if (status === undefined)
    return new ModelError(
      "unavailable",
      `Cannot reach ${subject}: ${words(message.replace(/^Cannot connect to API: /, ""))}`,
      { cause: error.cause },
    );
  if (status < 300)
    return new ModelError("interrupted", `The answer of ${subject} broke off: ${words(innermostMessage(error))}`, {
      cause: error.cause,
    });
  const said = messageIn(responseBody) ?? (message || `status ${status}`);
  // The error itself has the whole request in it: it is no cause to keep.
  return ofWords({ status, message: said, text: `${message}\n${responseBody}`, headers }, subject, undefined);
}

const innermostMessage = (error: Error): string => {
  const last = causes(error).at(-1);
  return last instanceof Error && last.message !== "" ? last.message : "the connection was lost";
};

/** An error in the stream, in any maker's form; else a chunk that nobody can read. */
function ofChunk(value: unknown, subject: string, cause: unknown): ModelError {
  const error = (value as { error?: unknown } | null)?.error;
  if (error === undefined || error === null)
    return new ModelError("interrupted", `Cannot read the answer of ${subject}: a part of it has an unknown form`, {
      cause,
    });
  const { message, statusCode, code, type } = (typeof error === "string" ? { message: error } : error) as Readonly<
    Record<string, unknown>
  >;
  const status = [statusCode, code].map(Number).find((each) => Number.isInteger(each) && each >= 400 && each < 600);
  const text = typeof message === "string" ? message : JSON.stringify(error);
  return ofWords(
    { status: status ?? statusOf(`${type} ${code}`), message: text, text: `${text}\n${type} ${code}` },
    subject,
    cause,
  );
}

/** The status for a kind, where the maker names a kind and no status. */
export function statusOf(kind: string): number | undefined {
  if (/rate_?limit|too_many/i.test(kind)) return 429;
  if (/overloaded|server_error|api_error|unavailable|timeout/i.test(kind)) return 503;
  if (/auth|permission/i.test(kind)) return 401;
  return /invalid_request|not_found/i.test(kind) ? 400 : undefined;
}

function messageIn(body: string): string | undefined {
  try {
    const value = JSON.parse(body) as {
      error?: { message?: unknown } | string;
      message?: unknown;
      detail?: unknown;
    } | null;
    const found =
      typeof value?.error === "string" ? value.error : (value?.error?.message ?? value?.message ?? value?.detail);
    return typeof found === "string" ? found : undefined;
  } catch {
    return undefined;
  }
}

function ofWords({ status, message, text, headers }: Said, subject: string, cause: unknown): ModelError {
  const clipped = text.slice(0, MOST_TEXT);
  const said = status === undefined ? words(message) : `status ${status}: ${words(message)}`;
  const fail = (code: ModelErrorCode, what: string, options: ModelErrorOptions = {}) =>
    new ModelError(code, `Cannot get an answer of ${subject}: ${what} (${said})`, { cause, ...options });

  const isAboutRequest = status === undefined || status === 400 || status === 413 || status === 422 || status === 500;
  const overflow = isAboutRequest ? contextOverflow(clipped) : undefined;
  if (overflow !== undefined) return fail("context_overflow", "the request is longer than it can read", overflow);
  if (status === 413) return fail("context_overflow", "the request is larger than it takes");
  if (isRefusal(status, clipped)) return fail("refused", "it refuses this text");
  if (TAKES_NO_TOOLS.test(clipped)) {
    return fail(
      "invalid_request",
      "it takes no tools. Choose another model, start the server with tools, or set usesTextToolCalls for it",
    );
  }
  switch (status) {
    case 401:
    case 403:
      return fail("unauthorized", "it does not accept the key. Check the API key, and that it may use this model");
    case 402:
      return fail("rate_limited", "the account has no credit left", { isRetryable: false });
    case 404:
      return fail("invalid_request", "it is not there. Check the name of the model and the URL");
    case 429:
      if (/insufficient_quota|billing/i.test(clipped))
        return fail("rate_limited", "the account's quota is used up", { isRetryable: false });
      return fail("rate_limited", "it takes no more requests for now", { retryAfterMs: waitOf(headers) });
    case 408:
    case 504:
      return fail("timeout", "it took too long", { retryAfterMs: waitOf(headers) });
    case undefined:
      return fail("interrupted", "it reports a failure");
    default:
      if (status >= 500 || status === 409)
        return fail("unavailable", "it fails, or is overloaded", { retryAfterMs: waitOf(headers) });
      return fail("invalid_request", "it does not take the request");
  }
}

/** Ollama, OpenRouter, vLLM. */
const TAKES_NO_TOOLS =
  /does not support tools|No endpoints found that support tool use|requires --enable-auto-tool-choice/i;

/** Azure OpenAI, OpenRouter's moderation, Alibaba. */
function isRefusal(status: number | undefined, text: string): boolean {
  if (status !== 400 && status !== 403 && status !== undefined) return false;
  return /content[_ ]filter|content_policy_violation|ResponsibleAIPolicyViolation|requires moderation|was flagged|data_inspection_failed/i.test(
    text,
  );
}

/** OpenAI says it in milliseconds, too. */
function waitOf(headers: Readonly<Record<string, string>> | undefined): number | undefined {
  const ms = Number(headers?.["retry-after-ms"]);
  return ms >= 0 && headers?.["retry-after-ms"] !== undefined ? ms : retryAfterMs(headers?.["retry-after"]);
}

const words = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > MOST_WORDS ? `${line.slice(0, MOST_WORDS)}…` : line;
};
