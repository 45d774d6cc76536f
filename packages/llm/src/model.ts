import type { ModelBehavior } from "./behavior/model-behavior.ts";

/** A language model: what it is asked, and what it answers. */
export interface Model {
  /** The provider's name of the model. */
  readonly id: string;
  readonly behavior: ModelBehavior;
  /**
   * Asks once. What fails before anything was shown is tried again, within the attempts, the time and the deadline.
   * @throws {ModelError} in words for a reader
   * @throws the signal's reason, once it aborts
   */
  answer(request: ModelRequest): Promise<ModelAnswer>;
}

/** One question to a model: a conversation, and the tools that it may call. */
export interface ModelRequest {
  /**
   * System messages at the start are the stable prefix, which providers cache. A later one goes out as a marked user
   * message.
   */
  readonly messages: readonly ModelMessage[];
  /** The tools in this order. The same tools and the same first messages make the same bytes. */
  readonly tools?: readonly ModelTool[] | undefined;
  /**
   * `none` keeps the tools in the request, for the cache, and asks for words. `required` asks for a call.
   * @default auto
   */
  readonly toolChoice?: "auto" | "none" | "required" | undefined;
  /** Has the provider hold the answer to JSON, where the model has tools, too: see holdsForm. @default no form */
  readonly form?: AnswerForm | undefined;
  readonly maxOutputTokens?: number | undefined;
  /** Requests with one key go to one cache, where the provider has such a thing. */
  readonly cacheKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The deadline on the clock of `performance.now()`. @default ten minutes from the call */
  readonly deadline?: number | undefined;
  /** Takes the text as it comes. Nothing is tried again after its first call. */
  onText?(delta: string): void;
}

/** The form of an answer in JSON. */
export interface AnswerForm {
  /** A JSON Schema. @default any object */
  readonly schema?: object | undefined;
  readonly name?: string | undefined;
  /** True if the schema is in the provider's subset, and is enforced. @default false */
  readonly strict?: boolean | undefined;
}

/** One message of a conversation. */
export type ModelMessage =
  | { readonly role: "system"; readonly content: string }
  | {
      readonly role: "user";
      readonly content: string;
      /** Data URLs, in base64: they stand after the text. */
      readonly images?: readonly string[] | undefined;
    }
  | {
      readonly role: "assistant";
      readonly content: string;
      readonly toolCalls?: readonly ModelToolCall[] | undefined;
      /** The provider's data of the answer that this message repeats. */
      readonly providerData?: ProviderData | undefined;
    }
  | {
      readonly role: "tool";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly content: string;
      readonly isError?: boolean | undefined;
    };

/** A call that the model wants made. */
export interface ModelToolCall {
  /** The id from the model, unless it gave none or gave it twice. */
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model wrote it: may be invalid. */
  readonly arguments: string;
}

/** A tool as the model reads of it. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /**
   * A JSON Schema, of any dialect. Keywords that a provider refuses are loosened before they go out: the runner of the
   * tool checks the arguments.
   */
  readonly parameters: object;
}

/** A model's answer, whole: a text, calls, or both. */
export interface ModelAnswer {
  readonly text: string;
  readonly toolCalls: readonly ModelToolCall[];
  /**
   * `refused`: the model will not answer; `text` has its words, if it has any. `length`: it ran out of output tokens.
   */
  readonly finish: "stop" | "tool_calls" | "length" | "refused" | "other";
  readonly usage: ModelUsage;
  /** The model that answered, as the provider names it. */
  readonly model?: string | undefined;
  /**
   * Hand it on with the assistant message that repeats this answer: what some models have thought, which they want back
   * in a loop of tool calls.
   */
  readonly providerData?: ProviderData | undefined;
}

/** JSON that only the adapter reads. */
export type ProviderData = Readonly<Record<string, unknown>>;

/** The cost of an answer in tokens. */
export interface ModelUsage {
  /** The cached ones included. */
  readonly inputTokens: number;
  /** What the model thought included. */
  readonly outputTokens: number;
  readonly cachedInputTokens?: number | undefined;
  /** The cost by the prices of models: see ModelPrice. */
  readonly cost?: number | undefined;
  /** Tokens of models whose price nobody knows; their cost is no part of `cost`. */
  readonly unpricedTokens?: number | undefined;
  /** The provider did not say: a token is counted for each four characters. */
  readonly isEstimated?: boolean | undefined;
}
