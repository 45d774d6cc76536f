import { SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { TurnRequest, TurnResult } from "../words/turn.ts";

/**
 * A span around one run of a turn, for what it asks and calls. A run that another process goes on with is `left`.
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-agent-spans/
 */
export function recordTurn(
  agent: string,
  { sessionId, turnId, origin = "user" }: TurnRequest,
  run: () => Promise<TurnResult>,
): Promise<TurnResult> {
  const attributes = {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": "rockbot",
    "gen_ai.agent.name": agent,
    "gen_ai.conversation.id": sessionId,
    "rockbot.agent.turn_id": turnId,
    "rockbot.agent.origin": origin,
  };
  return trace
    .getTracer("@rockbot/agent")
    .startActiveSpan(`invoke_agent ${agent}`, { kind: SpanKind.INTERNAL, attributes }, async (span) => {
      let finish = "left";
      try {
        const result = await run();
        finish = result.finish;
        span.setAttributes({
          "gen_ai.usage.input_tokens": result.usage.inputTokens,
          "gen_ai.usage.output_tokens": result.usage.outputTokens,
        });
        return result;
      } finally {
        span.setAttribute("rockbot.agent.finish", finish);
        if (finish === "failed" || finish === "left")
          span.setStatus({ code: SpanStatusCode.ERROR, message: finish }).setAttribute("error.type", finish);
        span.end();
      }
    });
}
