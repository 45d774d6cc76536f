import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { registerSecret, registerUrlSecret } from "@rockbot/base/redaction";
import type { ModelTool } from "./model.ts";

/** Whose rules hold beside those of the protocol. */
export type ProviderKind = "openai" | "openrouter" | "anthropic" | "other";

/** One provider, as the model asks it. */
export interface Provider {
  readonly protocol: "openai" | "anthropic";
  readonly kind: ProviderKind;
  readonly languageModel: LanguageModelV4;
  /** For one request. */
  options(cacheKey: string | undefined): SharedV4ProviderOptions;
  /** What the model reads of a tool. */
  describe(tool: ModelTool, parameters: object): { readonly description: string; readonly parameters: object };
}

export interface ProviderOptions {
  readonly url: URL;
  readonly model: string;
  readonly apiKey?: string | undefined;
  readonly kind: ProviderKind;
  readonly protocol: "openai" | "anthropic";
  /** What the model thought goes back to it with each of its messages. */
  readonly returnsReasoning: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
}

type Body = Record<string, unknown>;

/** The name under which the SDK takes options for OpenAI-compatible servers. */
const NAME = "model";
/** OpenAI refuses longer descriptions. @see https://github.com/getsentry/sentry-mcp/issues/106 */
const LONGEST_DESCRIPTION = 1024;

export function createProvider(options: ProviderOptions): Provider {
  return options.protocol === "anthropic" ? anthropicProvider(options) : openAiProvider(options);
}

function anthropicProvider({ url, model, apiKey, kind, headers, fetch }: ProviderOptions): Provider {
  // Without a key the SDK looks for one in the environment.
  const provider = createAnthropic({ baseURL: url.href, apiKey: apiKey ?? "none", headers, fetch });
  return {
    protocol: "anthropic",
    kind,
    languageModel: provider(model),
    // Arguments are shown to nobody while they come, so nothing is gained by those that the maker has not checked.
    options: () => ({ anthropic: { toolStreaming: false } }),
    describe: ({ description }, parameters) => ({ description, parameters }),
  };
}

function openAiProvider({ url, model, apiKey, kind, returnsReasoning, headers, fetch }: ProviderOptions): Provider {
  const provider = createOpenAICompatible({
    name: NAME,
    baseURL: url.href,
    ...(apiKey !== undefined && { apiKey }),
    headers,
    fetch,
    includeUsage: true,
    transformRequestBody: (body) => bodyFor(kind, model, returnsReasoning ? withReasoning(body) : body),
  });
  return {
    protocol: "openai",
    kind,
    languageModel: provider(model),
    options: (cacheKey) => ({ [NAME]: cacheKey === undefined ? {} : cacheOptions(kind, cacheKey) }),
    describe: ({ description }, parameters) => (kind === "openai" ? shortened(description, parameters) : { description, parameters }),
  };
}

/**
 * How a request says which cache it wants. Others have no such field, and some refuse what they do not know.
 * @see https://platform.openai.com/docs/guides/prompt-caching prompt_cache_key
 * @see https://openrouter.ai/docs/guides/best-practices/prompt-caching session_id
 */
function cacheOptions(kind: ProviderKind, cacheKey: string): Record<string, string> {
  if (kind === "openai") return { prompt_cache_key: cacheKey };
  return kind === "openrouter" ? { session_id: cacheKey } : {};
}

function bodyFor(kind: ProviderKind, model: string, body: Body): Body {
  if (kind === "openai") {
    // Models that think refuse `max_tokens`; all take this. https://platform.openai.com/docs/api-reference/chat/create
    const { max_tokens: max, ...rest } = body;
    return max === undefined ? rest : { ...rest, max_completion_tokens: max };
  }
  return kind === "openrouter" && /^~?anthropic\//.test(model) ? { ...body, messages: withBreakpoints(body.messages as readonly Body[]) } : body;
}

/** Models that want their thoughts back want them with each message, also where they had none. */
function withReasoning(body: Body): Body {
  const messages = (body.messages as readonly Body[]).map((message) => (message.role === "assistant" ? { reasoning_content: "", ...message } : message));
  return { ...body, messages };
}

/**
 * Anthropic caches what stands before a breakpoint only, also behind OpenRouter: the system message and the last message get one.
 * @see https://openrouter.ai/docs/guides/best-practices/prompt-caching
 */
function withBreakpoints(messages: readonly Body[]): readonly Body[] {
  return messages.map((message, index) => {
    const { content } = message;
    if ((index > 0 && index < messages.length - 1) || typeof content !== "string" || content === "") return message;
    if (index === 0 && message.role !== "system" && messages.length > 1) return message;
    return { ...message, content: [{ type: "text", text: content, cache_control: { type: "ephemeral" } }] };
  });
}

/** What is too long for the description goes on in that of the parameters. */
function shortened(description: string, parameters: object): { readonly description: string; readonly parameters: object } {
  if (description.length <= LONGEST_DESCRIPTION) return { description, parameters };
  const room = LONGEST_DESCRIPTION - 2;
  const paragraph = description.lastIndexOf("\n", room);
  const end = paragraph > room / 2 ? paragraph : description.lastIndexOf(" ", room) > room / 2 ? description.lastIndexOf(" ", room) : room;
  const rest = [description.slice(end).trim(), (parameters as { description?: string }).description].filter(Boolean).join("\n");
  return { description: `${description.slice(0, end).trimEnd()} …`, parameters: { ...parameters, description: rest } };
}

/**
 * The base of an API, from a URL as people write it: with the path of a request, without any, or with a slash at the end.
 * @throws {RangeError} if it cannot be one
 */
export function baseUrl(text: string): URL {
  const url = URL.parse(text);
  registerUrlSecret(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new RangeError(`Cannot ask a model at ${JSON.stringify(text)}: expected a URL with http: or https:`);
  if (url.username !== "" || url.password !== "")
    throw new RangeError(`Cannot ask a model at ${url.host}: the URL has a user name or password; give the key by itself`);
  const path = url.pathname.replace(/\/+$/, "").replace(/\/(chat\/completions|messages|models)$/, "");
  url.pathname = path !== "" ? path : kindOf(url.hostname) === "openrouter" ? "/api/v1" : "/v1";
  url.search = "";
  url.hash = "";
  return url;
}

/** By the host's name. */
export function kindOf(hostname: string): ProviderKind {
  if (/(^|\.)openai\.(com|azure\.com)$/.test(hostname)) return "openai";
  if (/(^|\.)openrouter\.ai$/.test(hostname)) return "openrouter";
  return /(^|\.)anthropic\.com$/.test(hostname) ? "anthropic" : "other";
}

/** The headers that show the key. */
export function keyHeaders(
  url: URL,
  { apiKey = "", protocol }: { readonly apiKey?: string | undefined; readonly protocol?: "openai" | "anthropic" | undefined },
) {
  if (apiKey !== "") registerSecret(apiKey);
  const isAnthropic = (protocol ?? (kindOf(url.hostname) === "anthropic" ? "anthropic" : "openai")) === "anthropic";
  if (isAnthropic) return { "anthropic-version": "2023-06-01", ...(apiKey !== "" && { "x-api-key": apiKey }) };
  return apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };
}
