/** How a model wants to be treated. */
export interface ModelBehavior {
  /**
   * A tool's result with more characters goes to working memory in chunks.
   * @default as many as contextTokens, at most 64_000
   */
  readonly chunkingThreshold: number;
  /** What the model can read at once, its answer included. @default 128_000 */
  readonly contextTokens: number;
  /** How often a turn may ask the model. @default 12 */
  readonly maxIterations: number;
  /** Stands at the end of the system text. */
  readonly systemText?: string | undefined;
  /** The model writes its tool calls as text, and gets no tools by the protocol. @default false */
  readonly usesTextToolCalls: boolean;
  /**
   * A model that says what it will call, and calls nothing, is asked once to do so.
   * @default false for models with an entry, true for others
   */
  readonly nudgesOnProse: boolean;
  /**
   * What the model thought before a tool call goes back to it, as some models demand that do not sign it.
   * @default false
   */
  readonly returnsReasoning?: boolean | undefined;
  /** The model sees images; false if they are refused before it is asked. @default its provider says */
  readonly takesImages?: boolean | undefined;
  /**
   * Its provider holds answers to a JSON Schema, also where the model has tools.
   * @default false: such answers are only checked
   */
  readonly holdsForm?: boolean | undefined;
  /** What it costs; nobody knows if left out. */
  readonly price?: ModelPrice | undefined;
}

/** Prices per million tokens, in a currency that is the same for all models. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** The price of input that the provider had in its cache. @default as other input */
  readonly cachedInput?: number | undefined;
}

/** The special wishes of a model, by its name or a prefix of it. */
export type ModelBehaviors = Readonly<Record<string, Partial<ModelBehavior>>>;
