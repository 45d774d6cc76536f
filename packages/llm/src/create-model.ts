import { createHash } from "node:crypto";
import type { JSONSchema7, LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import { backoffMs, pause } from "@rockbot/base";
import { registerSecret } from "@rockbot/base/redaction";
import { readAnswer } from "./answer/read-answer.ts";
import { recordAnswers } from "./answer/record-answer.ts";
import { behaviorOf } from "./behavior/behavior-of.ts";
import type { ModelBehavior, ModelBehaviors } from "./behavior/model-behavior.ts";
import { toModelError } from "./errors/to-model-error.ts";
import { watchedFetch } from "./http/watched-fetch.ts";
import type { Model, ModelAnswer, ModelRequest } from "./model.ts";
import { ModelError } from "./model-error.ts";
import { anthropicProvider } from "./provider/anthropic-provider.ts";
import { baseUrl, kindOf, type ProviderKind } from "./provider/base-url.ts";
import { openAiProvider } from "./provider/open-ai-provider.ts";
import type { Provider } from "./provider/provider.ts";
import { toPrompt } from "./request/to-prompt.ts";
import { toProviderSchema } from "./request/to-provider-schema.ts";

/** Where a model is, and how patiently it is asked. */
// Many because: a server of a model differs in each of them, and all but two have a default.
export interface CreateModelOptions {
  /** The address of the API, such as `https://api.openai.com/v1`; without a path, `/v1` is added. */
  readonly url: string;
  /** The provider's name of the model. */
  readonly model: string;
  readonly apiKey?: string | undefined;
  /** @default anthropic for Anthropic's host, openai for all others */
  readonly protocol?: "openai" | "anthropic" | undefined;
  /** Whose rules hold beside those of the protocol. @default by the host */
  readonly provider?: ProviderKind | undefined;
  /** Over those that RockBot knows; see behaviorOf. */
  readonly behaviors?: ModelBehaviors | undefined;
  /** The tokens that the server gives the model, over what is said of it. @default what is said */
  readonly contextTokens?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How often a request is tried. @default 4 */
  readonly attempts?: number | undefined;
  /** After so many milliseconds nothing is tried again. @default 60_000 */
  readonly retryMs?: number | undefined;
  /**
   * The longest silence before the answer begins, a local model's loading included. At most 290_000.
   * @default 120_000
   */
  readonly firstByteMs?: number | undefined;
  /** The longest silence in the answer. At most 290_000. @default 120_000 */
  readonly idleMs?: number | undefined;
  /** The longest answer, where a request has no deadline. @default 600_000 */
  readonly totalMs?: number | undefined;
  /** Hears of each attempt that failed and is made again. */
  onRetry?(error: ModelError, waitMs: number): void;
}

/** `fetch` itself gives up after 300 s of silence. */
const LONGEST_SILENCE_MS = 290_000;

/**
 * A model behind an OpenAI-compatible API (OpenAI, OpenRouter, Ollama, vLLM) or Anthropic's.
 * @throws {RangeError} if the URL, the name or a number cannot be used
 */
export function createModel(options: CreateModelOptions): Model {
  const settings = checked(options);
  const { url, model, apiKey, attempts, retryMs, totalMs, onRetry } = settings;
  if (apiKey !== undefined) registerSecret(apiKey);
  const behavior = behaviorOf(model, options.behaviors, options.contextTokens);
  const returnsReasoning = behavior.returnsReasoning ?? false;
  const subject = `model ${JSON.stringify(model)} at ${url.host}`;
  const records = recordAnswers({
    model,
    url,
    provider: settings.kind === "other" ? settings.protocol : settings.kind,
  });
  const provider = (settings.protocol === "anthropic" ? anthropicProvider : openAiProvider)({
    ...settings,
    returnsReasoning,
    fetch: watchedFetch({ ...settings, subject }),
  });

  async function attempt(
    request: ModelRequest,
    signal: AbortSignal,
    onText: (delta: string) => void,
  ): Promise<ModelAnswer> {
    const call = callOf(request, provider, behavior);
    try {
      const { stream } = await provider.languageModel.doStream({ ...call, abortSignal: signal });
      return await readAnswer(stream, { subject, onText, inputCharacters: () => charactersOf(request) });
    } catch (error) {
      throw signal.aborted ? signal.reason : toModelError(error, subject);
    }
  }

  async function ask(request: ModelRequest): Promise<ModelAnswer> {
    const begun = performance.now();
    const end = request.deadline ?? begun + totalMs;
    using late = deadlineSignal(end, subject);
    const signal = request.signal === undefined ? late.signal : AbortSignal.any([request.signal, late.signal]);
    let isShown = false;
    const onText = (delta: string): void => {
      if (request.onText === undefined) return;
      isShown = true;
      request.onText(delta);
    };
    for (let failures = 1; ; failures++) {
      signal.throwIfAborted();
      try {
        return await attempt(request, signal, onText);
      } catch (error) {
        if (!(error instanceof ModelError) || !error.isRetryable || isShown || signal.aborted || failures >= attempts)
          throw error;
        const waitMs = error.retryAfterMs ?? backoffMs(failures, { baseMs: 250, maxMs: 8_000, leastPart: 0.5 });
        if (performance.now() + waitMs >= Math.min(end, begun + retryMs)) throw error;
        records.retried(error);
        onRetry?.(error, waitMs);
        await pause(waitMs, signal);
      }
    }
  }

  return { id: model, behavior, answer: (request) => records.answer(() => ask(request)) };
}

/** Aborts when the deadline is over; its timer ends with the scope. */
function deadlineSignal(end: number, subject: string): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const fail = (): void =>
    controller.abort(
      new ModelError("timeout", `Cannot get an answer of ${subject}: the time for it is over`, { isRetryable: false }),
    );
  const left = end - performance.now();
  const timer = left > 0 ? setTimeout(fail, Math.min(left, 2 ** 31 - 1)) : undefined;
  if (timer === undefined) fail();
  return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}

/**
 * Anthropic needs the most tokens of an answer, and takes them off those that a request may have. More than the model
 * can is cut by the SDK.
 */
const ANTHROPIC_OUTPUT_TOKENS = 32_000;

function callOf(
  request: ModelRequest,
  provider: Provider,
  { contextTokens, returnsReasoning = false }: ModelBehavior,
): LanguageModelV4CallOptions {
  const { messages, tools = [], toolChoice = "auto", form, cacheKey } = request;
  const ownMax =
    provider.protocol === "anthropic" ? Math.min(ANTHROPIC_OUTPUT_TOKENS, Math.floor(contextTokens / 4)) : undefined;
  const maxOutputTokens = request.maxOutputTokens ?? ownMax;
  const key = cacheKey === undefined ? undefined : createHash("sha256").update(cacheKey).digest("hex").slice(0, 32);
  return {
    prompt: toPrompt(messages, { protocol: provider.protocol, returnsReasoning }),
    ...(tools.length > 0 && {
      tools: tools.map((tool) => functionTool(tool, provider)),
      ...(toolChoice !== "auto" && { toolChoice: { type: toolChoice } }),
    }),
    ...(form !== undefined && {
      responseFormat: {
        type: "json",
        ...(form.schema && { schema: form.schema as JSONSchema7 }),
        ...(form.name !== undefined && { name: form.name }),
      },
    }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    providerOptions: provider.options(key, form),
  };
}

function functionTool(
  tool: NonNullable<ModelRequest["tools"]>[number],
  provider: Provider,
): LanguageModelV4FunctionTool {
  const { description, parameters } = provider.describe(tool, toProviderSchema(tool.parameters));
  return { type: "function", name: tool.name, description, inputSchema: parameters };
}

function charactersOf({ messages, tools = [] }: ModelRequest): number {
  const said = messages.reduce((sum, { content }) => sum + content.length, 0);
  return tools.reduce(
    (sum, { description, parameters }) => sum + description.length + JSON.stringify(parameters).length,
    said,
  );
}

function checked({
  url: text,
  model,
  apiKey,
  protocol,
  provider,
  headers = {},
  onRetry,
  ...numbers
}: CreateModelOptions) {
  const url = baseUrl(text);
  if (model.trim() === "")
    throw new RangeError("Cannot use a model without a name: set the name that the provider has for it");
  const kind = provider ?? kindOf(url.hostname);
  const { attempts = 4, retryMs = 60_000, firstByteMs = 120_000, idleMs = 120_000, totalMs = 600_000 } = numbers;
  const bounds = Object.entries({ firstByteMs, idleMs }).filter(([, ms]) => !(ms > 0 && ms <= LONGEST_SILENCE_MS));
  if (bounds.length > 0)
    throw new RangeError(
      `Cannot use ${bounds.map(([name, ms]) => `${name} ${ms}`).join(", ")}: expected more than 0, at most ${LONGEST_SILENCE_MS}`,
    );
  if (!Number.isInteger(attempts) || attempts < 1)
    throw new RangeError(`Cannot try ${attempts} times: expected a positive integer`);
  const spoken = protocol ?? (kind === "anthropic" ? "anthropic" : "openai");
  return {
    url,
    model,
    apiKey: apiKey === "" ? undefined : apiKey,
    protocol: spoken,
    kind,
    headers,
    attempts,
    retryMs,
    firstByteMs,
    idleMs,
    totalMs,
    onRetry,
  };
}
