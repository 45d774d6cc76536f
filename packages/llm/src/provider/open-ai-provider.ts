import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { ProviderKind } from "./base-url.ts";
import type { Provider, ProviderOptions } from "./provider.ts";

type Body = Record<string, unknown>;

/** The name under which the SDK takes options for OpenAI-compatible servers. */
const NAME = "model";
/** OpenAI refuses longer descriptions. @see https://github.com/getsentry/sentry-mcp/issues/106 */
const LONGEST_DESCRIPTION = 1024;

/** OpenAI's chat completions, and servers that speak them. */
export function openAiProvider({
  url,
  model,
  apiKey,
  kind,
  returnsReasoning,
  headers,
  fetch,
}: ProviderOptions): Provider {
  const provider = createOpenAICompatible({
    name: NAME,
    baseURL: url.href,
    ...(apiKey !== undefined && { apiKey }),
    headers,
    fetch,
    includeUsage: true,
    supportsStructuredOutputs: true,
    transformRequestBody: (body) => bodyFor(kind, model, returnsReasoning ? withReasoning(body) : body),
  });
  return {
    protocol: "openai",
    languageModel: provider(model),
    options: (cacheKey, form) => ({
      [NAME]: {
        ...(cacheKey === undefined ? {} : cacheOptions(kind, cacheKey)),
        ...(form?.schema && { strictJsonSchema: form.strict === true }),
      },
    }),
    describe: ({ description }, parameters) =>
      kind === "openai" ? shortened(description, parameters) : { description, parameters },
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
  return kind === "openrouter" && /^~?anthropic\//.test(model)
    ? { ...body, messages: withBreakpoints(body.messages as readonly Body[]) }
    : body;
}

/** Models that want their thoughts back want them with each message, also where they had none. */
function withReasoning(body: Body): Body {
  const messages = (body.messages as readonly Body[]).map((message) =>
    message.role === "assistant" ? { reasoning_content: "", ...message } : message,
  );
  return { ...body, messages };
}

/**
 * Anthropic caches what stands before a breakpoint only, also behind OpenRouter: the system message and the last
 * message get one.
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
function shortened(
  description: string,
  parameters: object,
): { readonly description: string; readonly parameters: object } {
  if (description.length <= LONGEST_DESCRIPTION) return { description, parameters };
  const room = LONGEST_DESCRIPTION - 2;
  const paragraph = description.lastIndexOf("\n", room);
  const end =
    paragraph > room / 2
      ? paragraph
      : description.lastIndexOf(" ", room) > room / 2
        ? description.lastIndexOf(" ", room)
        : room;
  const rest = [description.slice(end).trim(), (parameters as { description?: string }).description]
    .filter(Boolean)
    .join("\n");
  return { description: `${description.slice(0, end).trimEnd()} …`, parameters: { ...parameters, description: rest } };
}
