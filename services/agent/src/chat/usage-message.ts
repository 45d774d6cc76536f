import type { AgentUsage } from "@rockbot/contracts";
import type { ModelUsage } from "@rockbot/llm";

/** What a model has used, in its form on the wire. */
export const usageMessage = ({ inputTokens, outputTokens, cachedInputTokens }: ModelUsage): AgentUsage => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  ...(cachedInputTokens === undefined ? {} : { cached_input_tokens: cachedInputTokens }),
});
