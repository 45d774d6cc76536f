import type { Spending } from "@rockbot/agent";
import { ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { type Embedder, ModelError, type ModelPrice } from "@rockbot/llm";
import { defineTool, type Tool } from "@rockbot/tools";

export interface AgentEmbedOptions {
  readonly embedder: Embedder;
  /** @default nobody knows */
  readonly price: ModelPrice | undefined;
  /** @default callers may spend what they like */
  readonly spending: Spending | undefined;
}

/** `agent__embed`: vectors of texts, by the agent's model for that. The key of the model stays in this process. */
export function agentEmbed({ embedder, price, spending }: AgentEmbedOptions): Tool {
  return defineTool(tools.agentEmbed, async ({ texts, model = embedder.id, dimensions }, { caller, signal }) => {
    if (model !== embedder.id) {
      const message = `Cannot make embeddings: there is no model ${JSON.stringify(model)} for them. The one for them is "${embedder.id}"`;
      throw new ToolError(ToolErrorCode.InvalidArguments, message, { details: { reason: "model_not_found" } });
    }
    const refusal = await spending?.refusal(caller);
    if (refusal !== undefined)
      throw new ToolError(ToolErrorCode.RateLimited, `Cannot make embeddings: ${refusal}.`, {
        details: { reason: "cost" },
      });
    const { vectors, inputTokens } = await embedder.embed(texts, { dimensions, signal }).catch((error: unknown) => {
      throw error instanceof ModelError ? toToolError(error) : error;
    });
    spending?.charge(caller, ((price?.input ?? 0) * inputTokens) / 1_000_000);
    const embeddings = vectors.map((vector) => Buffer.from(Float32Array.from(vector).buffer).toString("base64"));
    return {
      content: `${vectors.length} vectors of ${vectors[0]?.length ?? 0} numbers.`,
      structured: { model, embeddings, input_tokens: inputTokens },
    };
  });
}

function toToolError({ code, message, isRetryable, retryAfterMs }: ModelError): ToolError {
  if (code === "context_overflow" || code === "invalid_request")
    return new ToolError(ToolErrorCode.InvalidArguments, message, { details: { reason: code } });
  return new ToolError(code === "timeout" ? ToolErrorCode.Timeout : ToolErrorCode.Unavailable, message, {
    isRetryable,
    retryAfterMs,
    details: { reason: code },
  });
}
