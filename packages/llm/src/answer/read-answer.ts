import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import type { ModelAnswer, ModelToolCall, ModelUsage } from "../model.ts";
import { ModelError } from "../model-error.ts";
import { writeProviderData } from "../request/provider-data.ts";
import { LeadingThought } from "./leading-thought.ts";

export interface ReadAnswerOptions {
  /** "model X at host": for errors. */
  readonly subject: string;
  onText(delta: string): void;
  /** For an estimate, where the provider counts nothing. */
  inputCharacters(): number;
}

/** Where the provider counts nothing. */
export const estimatedTokens = (characters: number): number => Math.ceil(characters / 4);

/** More text, or arguments, are nobody's answer. In characters. */
const MAX_CHARACTERS = 8 * 1024 * 1024;
/** Makers' words for an answer that failed, though the stream ended well. */
const FAILED = /^(error|malformed_function_call|network_error|abort)$/i;

type Reasoning = { text: string; metadata?: SharedV4ProviderMetadata };

/**
 * Reads a stream to its end.
 * @throws {ModelError} `interrupted` if it ends in the middle, or has nothing in it
 * @throws what the stream fails with
 */
export async function readAnswer(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  options: ReadAnswerOptions,
): Promise<ModelAnswer> {
  const found = new Answer(options);
  // Leaving the loop early cancels the stream, and with it the request.
  for await (const part of stream) found.take(part);
  return found.finish();
}

class Answer {
  readonly #options: ReadAnswerOptions;
  #text = "";
  #characters = 0;
  readonly #calls: (ModelToolCall & { readonly metadata: SharedV4ProviderMetadata | undefined })[] = [];
  /** By id of a call: how many calls were given it. */
  readonly #copies = new Map<string, number>();
  readonly #thought = new LeadingThought();
  readonly #reasoning = new Map<string, Reasoning>();
  #end: { readonly reason: LanguageModelV4FinishReason; readonly usage: LanguageModelV4Usage } | undefined;

  #model: string | undefined;

  constructor(options: ReadAnswerOptions) {
    this.#options = options;
  }

  take(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case "error":
        throw part.error;
      case "text-delta":
        this.#count(part.delta);
        this.#show(this.#thought.show(part.delta));
        break;
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        this.#think(part.id, part.type === "reasoning-delta" ? part.delta : "", part.providerMetadata);
        break;
      case "tool-input-delta":
        this.#count(part.delta);
        break;
      case "tool-call":
        this.#calls.push({
          id: this.#idFor(part.toolCallId),
          name: part.toolName,
          arguments: part.input,
          metadata: part.providerMetadata,
        });
        break;
      case "response-metadata":
        this.#model = part.modelId ?? this.#model;
        break;
      case "finish":
        this.#end = { reason: part.finishReason, usage: part.usage };
        break;
      default:
    }
  }

  finish(): ModelAnswer {
    this.#show(this.#thought.rest());
    if (this.#end === undefined) throw this.#broken("it ended in the middle");
    const { reason, usage } = this.#end;
    if (reason.unified === "interrupted") throw this.#broken("it ended in the middle");
    if (FAILED.test(reason.raw ?? "")) throw this.#broken(`the provider ended it as failed (${reason.raw})`);
    const finish = this.#finishOf(reason);
    const toolCalls =
      finish === "refused" ? [] : this.#calls.map(({ id, name, arguments: input }) => ({ id, name, arguments: input }));
    if (this.#text.trim() === "" && toolCalls.length === 0 && finish !== "refused" && finish !== "length")
      throw this.#broken("there is nothing in it");
    const calls = toolCalls.length === 0 ? [] : this.#calls.map(({ metadata }) => metadata);
    const providerData = writeProviderData([...this.#reasoning.values()], calls);
    const model = this.#model;
    return {
      text: this.#text,
      toolCalls,
      finish,
      usage: this.#usageOf(usage),
      ...(model !== undefined && { model }),
      ...(providerData !== undefined && { providerData }),
    };
  }

  #show(text: string): void {
    if (text === "") return;
    this.#text += text;
    this.#options.onText(text);
  }

  /** Some servers end an answer with calls as `stop`; the calls say what it is. */
  #finishOf({ unified }: LanguageModelV4FinishReason): ModelAnswer["finish"] {
    if (unified === "content-filter") return "refused";
    if (unified === "length") return "length";
    if (this.#calls.length > 0) return "tool_calls";
    return unified === "stop" || unified === "tool-calls" ? "stop" : "other";
  }

  /** An id tells results apart: a second call with one gets another. */
  #idFor(given: string): string {
    let copy = this.#copies.get(given) ?? 1;
    let id = given;
    while (this.#copies.has(id)) id = `${given}-${++copy}`;
    this.#copies.set(id, 1).set(given, copy);
    return id;
  }

  #usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): ModelUsage {
    const cached = inputTokens.cacheRead;
    const input = inputTokens.total;
    const output = outputTokens.total;
    const isCounted =
      input !== undefined && output !== undefined && input > 0 && (output > 0 || this.#characters === 0);
    if (isCounted) {
      return { inputTokens: input, outputTokens: output, ...(cached !== undefined && { cachedInputTokens: cached }) };
    }
    return {
      inputTokens: estimatedTokens(this.#options.inputCharacters()),
      outputTokens: estimatedTokens(this.#characters),
      isEstimated: true,
    };
  }

  #think(id: string, delta: string, metadata: SharedV4ProviderMetadata | undefined): void {
    this.#count(delta);
    const thought = this.#reasoning.get(id) ?? { text: "" };
    thought.text += delta;
    if (metadata !== undefined) thought.metadata = merged(thought.metadata, metadata);
    this.#reasoning.set(id, thought);
  }

  #count({ length }: string): void {
    this.#characters += length;
    if (this.#characters <= MAX_CHARACTERS) return;
    const { subject } = this.#options;
    throw new ModelError(
      "interrupted",
      `Cannot take the answer of ${subject}: it has more than ${MAX_CHARACTERS} characters`,
      { isRetryable: false },
    );
  }

  #broken(what: string): ModelError {
    return new ModelError("interrupted", `Cannot take the answer of ${this.#options.subject}: ${what}`);
  }
}

function merged(one: SharedV4ProviderMetadata | undefined, other: SharedV4ProviderMetadata): SharedV4ProviderMetadata {
  return Object.fromEntries([
    ...Object.entries(one ?? {}),
    ...Object.entries(other).map(([name, data]) => [name, { ...one?.[name], ...data }]),
  ]);
}
