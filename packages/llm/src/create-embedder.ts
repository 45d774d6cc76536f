import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { registerSecret } from "@rockbot/base/redaction";
import { estimatedTokens } from "./answer/read-answer.ts";
import type { CreateModelOptions } from "./create-model.ts";
import { toModelError } from "./errors/to-model-error.ts";
import { ModelError } from "./model-error.ts";
import { baseUrl } from "./provider/base-url.ts";

/** Vectors of texts, in their order. */
export interface Embeddings {
  readonly vectors: readonly (readonly number[])[];
  /** As the provider counts them, else an estimate. */
  readonly inputTokens: number;
}

/** A model for embeddings. */
export interface Embedder {
  readonly id: string;
  /** @throws {ModelError} in words for a reader @throws the signal's reason, once it aborts */
  embed(
    texts: readonly string[],
    options: { readonly dimensions?: number | undefined; readonly signal: AbortSignal },
  ): Promise<Embeddings>;
}

/**
 * A model that makes embeddings behind an OpenAI-compatible API. Asked once: embeddings have no effect, so callers may
 * ask again.
 */
export function createEmbedder({
  url: text,
  model,
  apiKey = "",
}: Pick<CreateModelOptions, "url" | "model" | "apiKey">): Embedder {
  const url = baseUrl(text);
  const subject = `model ${JSON.stringify(model)} at ${url.host}`;
  if (apiKey !== "") registerSecret(apiKey);
  const fetchThere: typeof fetch = (input, init) => fetch(input, { ...init, redirect: "error" }); // the key goes nowhere else
  const provider = createOpenAICompatible({
    name: "model",
    baseURL: url.href,
    fetch: fetchThere,
    ...(apiKey !== "" && { apiKey }),
  });
  const embedding = provider.embeddingModel(model);
  return {
    id: model,
    async embed(texts, { dimensions, signal }) {
      try {
        const { embeddings, usage } = await embedding.doEmbed({
          values: [...texts],
          abortSignal: signal,
          ...(dimensions !== undefined && { dimensions }),
        });
        if (embeddings.length !== texts.length)
          throw new ModelError(
            "interrupted",
            `The answer of ${subject} has ${embeddings.length} of ${texts.length} vectors`,
          );
        return { vectors: embeddings, inputTokens: usage?.tokens ?? estimatedTokens(texts.join("").length) };
      } catch (error) {
        throw signal.aborted ? signal.reason : toModelError(error, subject);
      }
    },
  };
}
