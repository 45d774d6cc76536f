import { metrics } from "@opentelemetry/api";
import type { TurnRequest, TurnResult } from "@rockbot/agent";

/** Counts turns and what they use. A turn that is taken up again counts once more. */
export class TurnMetrics {
  readonly #meter = metrics.getMeter("@rockbot/agent-service");
  readonly #turns = this.#meter.createCounter("rockbot.agent.turns", {
    description: "Turns that ended, by how, and by who spoke.",
  });
  readonly #duration = this.#meter.createHistogram("rockbot.agent.turn.duration", {
    unit: "ms",
    description: "Time from a turn's start to its end, waiting for its session included.",
  });
  readonly #tokens = this.#meter.createCounter("rockbot.agent.tokens", {
    description: "Tokens of requests to the model, by kind: input, output, or cached, a part of the input.",
  });

  async measure(origin: TurnRequest["origin"] = "user", run: () => Promise<TurnResult>): Promise<TurnResult> {
    const startedAt = performance.now();
    let finish = "interrupted";
    try {
      const result = await run();
      finish = result.finish;
      this.#count(result);
      return result;
    } finally {
      this.#turns.add(1, { finish, origin });
      this.#duration.record(performance.now() - startedAt, { finish });
    }
  }

  #count({ usage: { inputTokens, outputTokens, cachedInputTokens = 0 } }: TurnResult): void {
    this.#tokens.add(inputTokens, { kind: "input" });
    this.#tokens.add(outputTokens, { kind: "output" });
    this.#tokens.add(cachedInputTokens, { kind: "cached" });
  }
}
