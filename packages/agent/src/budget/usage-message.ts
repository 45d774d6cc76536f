import type { AgentUsage } from "@rockbot/contracts";
import type { ModelUsage } from "@rockbot/llm";

/** The usage of a model in its form on the wire. */
export const usageMessage = ({
  inputTokens,
  outputTokens,
  cachedInputTokens,
  cost,
  unpricedTokens,
}: ModelUsage): AgentUsage => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  ...(cachedInputTokens === undefined ? {} : { cached_input_tokens: cachedInputTokens }),
  ...(cost === undefined ? {} : { cost }),
  ...(unpricedTokens === undefined ? {} : { unpriced_tokens: unpricedTokens }),
});
