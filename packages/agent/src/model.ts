/** A message of the conversation with a model. */
export type ModelMessage =
  | { readonly role: "system" | "user"; readonly content: string }
  | {
      readonly role: "assistant";
      readonly content: string;
      readonly toolCalls?: readonly ModelToolCall[] | undefined;
      readonly providerData?: Readonly<Record<string, unknown>> | undefined;
    }
  | { readonly role: "tool"; readonly toolCallId: string; readonly toolName: string; readonly content: string; readonly isError?: boolean | undefined };

/** A call that a model asks for. */
export interface ModelToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model wrote it: it may be invalid. */
  readonly arguments: string;
}

/** A tool as models see it. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: object;
}

/** One question to a model. */
export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  readonly tools?: readonly ModelTool[] | undefined;
  /** @default "auto" */
  readonly toolChoice?: "auto" | "none" | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly cacheKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** On the clock of `performance.now()`. */
  readonly deadline?: number | undefined;
  onText?(delta: string): void;
}

/** The tokens of a request. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number | undefined;
}

/** The answer of a model, whole. */
export interface ModelAnswer {
  readonly text: string;
  readonly toolCalls: readonly ModelToolCall[];
  readonly finish: "stop" | "tool_calls" | "length" | "refused" | "other";
  readonly usage: ModelUsage;
  readonly providerData?: Readonly<Record<string, unknown>> | undefined;
}

/** The ways of one model. */
export interface ModelBehavior {
  /** A result of more characters goes to working memory in chunks. */
  readonly chunkingThreshold: number;
  readonly contextTokens: number;
  readonly maxIterations: number;
  readonly systemText?: string | undefined;
  readonly usesTextToolCalls: boolean;
  readonly nudgesOnProse: boolean;
}

/** A language model. */
export interface Model {
  readonly id: string;
  readonly behavior: ModelBehavior;
  /** @throws an error with a `code`, such as `context_overflow` */
  answer(request: ModelRequest): Promise<ModelAnswer>;
}
