import { metrics, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { ModelAnswer } from "../model.ts";
import { ModelError } from "../model-error.ts";

/** What a record says beside the answer. */
export interface RecordedModel {
  readonly model: string;
  readonly url: URL;
  /** The provider's name in the conventions. For an unknown host it is the provider whose API it speaks. */
  readonly provider: string;
}

/**
 * A span and a duration for each answer, all its attempts in one; the instrumentation of `fetch` has a span for each.
 * The span's attributes have the names of the conventions for generative AI, and no text of the conversation.
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/
 */
export function recordAnswers({ model, url, provider }: RecordedModel) {
  const tracer = trace.getTracer("@rockbot/llm");
  const meter = metrics.getMeter("@rockbot/llm");
  const duration = meter.createHistogram("rockbot.model.answer.duration", {
    unit: "ms",
    description: "Time until a model has answered, retries included, by how the answer ended.",
  });
  const retries = meter.createCounter("rockbot.model.retries", {
    description: "Requests to a model that failed and were made again, by the error's code.",
  });
  const attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": provider,
    "gen_ai.request.model": model,
    "server.address": url.hostname,
  };

  return {
    retried: ({ code }: ModelError): void => retries.add(1, { code }),

    answer: (ask: () => Promise<ModelAnswer>): Promise<ModelAnswer> =>
      tracer.startActiveSpan(`chat ${model}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
        const start = performance.now();
        let outcome = "cancelled";
        try {
          const answer = await ask();
          outcome = answer.finish;
          describe(span, answer);
          return answer;
        } catch (error) {
          if (error instanceof ModelError) outcome = error.code;
          span.setStatus({ code: SpanStatusCode.ERROR });
          span.setAttribute("error.type", outcome);
          throw error;
        } finally {
          duration.record(performance.now() - start, { outcome });
          span.end();
        }
      }),
  };
}

function describe(span: Span, { finish, usage, toolCalls, model }: ModelAnswer): void {
  if (model !== undefined) span.setAttribute("gen_ai.response.model", model);
  span.setAttributes({
    "gen_ai.response.finish_reasons": [finish],
    "gen_ai.usage.input_tokens": usage.inputTokens,
    "gen_ai.usage.output_tokens": usage.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": usage.cachedInputTokens ?? 0,
    "rockbot.model.tool_calls": toolCalls.length,
  });
}
