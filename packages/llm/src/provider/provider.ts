import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { AnswerForm, ModelTool } from "../model.ts";
import type { ProviderKind } from "./base-url.ts";

/** One provider, as the model asks it. */
export interface Provider {
  readonly protocol: "openai" | "anthropic";
  readonly languageModel: LanguageModelV4;
  /** The options for one request. */
  options(cacheKey: string | undefined, form: AnswerForm | undefined): SharedV4ProviderOptions;
  /** What the model reads of a tool. */
  describe(tool: ModelTool, parameters: object): { readonly description: string; readonly parameters: object };
}

/** Where a provider is, and how it is asked. */
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
