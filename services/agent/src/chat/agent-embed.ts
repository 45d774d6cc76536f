import type { Spending } from "@rockbot/agent";
import { ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { type Embedder, type Embeddings, ModelError, type ModelPrice } from "@rockbot/llm";
import { defineTool, MAX_RESULT_BYTES, type Tool } from "@rockbot/tools";

export interface AgentEmbedOptions {
  readonly embedder: Embedder;
  /** @default nobody knows */
  readonly price: ModelPrice | undefined;
  /** @default callers may spend what they like */
  readonly spending: Spending | undefined;
}

/** So many vectors fit into an answer, however long they are. */
const FEW = 16;
/** What an answer has beside its vectors, in bytes, and what each has beside its numbers. */
const BESIDE = 1_024;
const QUOTED = 3;

/** `agent__embed`: vectors of texts, by the agent's model for that. The key of the model stays in this process. */
export function agentEmbed({ embedder, price, spending }: AgentEmbedOptions): Tool {
  /** How many numbers a vector of the model has, once one has come, by how many were asked for. */
  const lengths = new Map<number | undefined, number>();
  return defineTool(tools.agentEmbed, async ({ texts, model = embedder.id, dimensions }, context) => {
    const { caller, signal, maxResultBytes = MAX_RESULT_BYTES } = context;
    if (model !== embedder.id) {
      const message = `Cannot make embeddings: there is no model ${JSON.stringify(model)} for them. The one for them is "${embedder.id}"`;
      throw new ToolError(ToolErrorCode.InvalidArguments, message, { details: { reason: "model_not_found" } });
    }
    const refusal = await spending?.refusal(caller);
    if (refusal !== undefined)
      throw new ToolError(ToolErrorCode.RateLimited, `Cannot make embeddings: ${refusal}.`, {
        details: { reason: "cost" },
      });
    const made: Embeddings[] = [];
    const make = async (some: readonly string[]): Promise<void> => {
      const part = await embedder.embed(some, { dimensions, signal }).catch((error: unknown) => {
        throw error instanceof ModelError ? toToolError(error) : error;
      });
      spending?.charge(caller, ((price?.input ?? 0) * part.inputTokens) / 1_000_000);
      lengths.set(dimensions, part.vectors[0]?.length ?? 0);
      if (dimensions !== undefined) refuseOtherLength(part, dimensions);
      made.push(part);
    };
    const bound = (): void => refuseTooMany(texts.length, lengths.get(dimensions) ?? dimensions ?? 0, maxResultBytes);
    bound();
    if (!lengths.has(dimensions) && texts.length > FEW) {
      await make(texts.slice(0, 1)); // a model need not keep to the dimensions
      bound();
    }
    await make(texts.slice(made.length));
    const vectors = made.flatMap((part) => part.vectors);
    const inputTokens = made.reduce((sum, part) => sum + part.inputTokens, 0);
    const embeddings = vectors.map((vector) => Buffer.from(Float32Array.from(vector).buffer).toString("base64"));
    return {
      content: `${vectors.length} vectors of ${vectors[0]?.length ?? 0} numbers.`,
      structured: { model, embeddings, input_tokens: inputTokens },
    };
  });
}

/** @throws {ToolError} if the model has given what it always gives */
function refuseOtherLength({ vectors }: Embeddings, dimensions: number): void {
  const other = vectors.find((vector) => vector.length !== dimensions);
  if (other === undefined) return;
  const message = `Cannot make embeddings: the model's vectors have ${other.length} numbers, and dimensions asks for ${dimensions}. Leave dimensions out`;
  throw new ToolError(ToolErrorCode.InvalidArguments, message, { details: { param: "dimensions" } });
}

/** @throws {ToolError} if the vectors would be more than an answer carries: the model is not paid for them */
function refuseTooMany(count: number, numbers: number, maxBytes: number): void {
  const most = Math.floor((maxBytes - BESIDE) / (4 * Math.ceil((4 * numbers) / 3) + QUOTED));
  if (count <= most) return;
  const message = `Cannot make embeddings: ${count} vectors of ${numbers} numbers are more than an answer carries. Send at most ${most} texts at once`;
  throw new ToolError(ToolErrorCode.InvalidArguments, message);
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
