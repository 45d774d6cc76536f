import type { ModelBehaviors } from "./model-behavior.ts";

/**
 * Families of models. Their context windows are those of https://models.dev as of May 2026, of several the smallest
 * that is in use. There, `interleaved` says if a family wants its thoughts back. A server of one's own may have less
 * room: what it was started with counts, not the model.
 */
export const DEFAULT_BEHAVIORS: ModelBehaviors = {
  // 25 iterations are what the .NET original ships. 4.6 and newer read a million tokens.
  claude: { contextTokens: 200_000, maxIterations: 25 },
  "claude-opus-4-6": { contextTokens: 1_000_000, maxIterations: 25 },
  "claude-opus-4-7": { contextTokens: 1_000_000, maxIterations: 25 },
  "claude-sonnet-4-6": { contextTokens: 1_000_000, maxIterations: 25 },

  "gpt-3.5": { contextTokens: 16_385, takesImages: false },
  "gpt-4": { contextTokens: 8_192, takesImages: false },
  "gpt-4-turbo": { contextTokens: 128_000 },
  "gpt-4o": { contextTokens: 128_000, holdsForm: true },
  "gpt-4.1": { contextTokens: 1_047_576, holdsForm: true },
  "gpt-5": { contextTokens: 400_000, holdsForm: true },
  "gpt-5-chat": { contextTokens: 128_000 },
  "gpt-oss": { contextTokens: 128_000, takesImages: false },
  o1: { contextTokens: 200_000 },
  o3: { contextTokens: 200_000, holdsForm: true },
  o4: { contextTokens: 200_000, holdsForm: true },

  gemini: { contextTokens: 1_048_576 },
  gemma: { contextTokens: 128_000, nudgesOnProse: true },
  grok: { contextTokens: 256_000 },
  // The .NET original nudges this family, and lets it call by text; its API has since got calls of its own.
  // Without its thoughts it refuses a conversation: https://api-docs.deepseek.com/guides/thinking_mode#tool-calls
  deepseek: { contextTokens: 128_000, nudgesOnProse: true, returnsReasoning: true },
  "deepseek-v4": { contextTokens: 1_000_000, nudgesOnProse: true, returnsReasoning: true },
  kimi: { contextTokens: 262_144, returnsReasoning: true },
  "kimi-k2-0711": { contextTokens: 131_072, takesImages: false },
  glm: { contextTokens: 128_000, returnsReasoning: true },
  "glm-4.6": { contextTokens: 200_000, returnsReasoning: true },
  "glm-4.7": { contextTokens: 200_000, returnsReasoning: true },
  "glm-5": { contextTokens: 200_000, returnsReasoning: true },
  minimax: { contextTokens: 196_608, returnsReasoning: true },
  qwen: { contextTokens: 32_768, nudgesOnProse: true },
  qwen3: { contextTokens: 131_072, nudgesOnProse: true },
  "qwen3.5": { contextTokens: 262_144, nudgesOnProse: true, returnsReasoning: true },
  "qwen3-coder": { contextTokens: 262_144, nudgesOnProse: true, takesImages: false },
  "qwen3-max": { contextTokens: 262_144 },
  llama: { contextTokens: 128_000, nudgesOnProse: true },
  mistral: { contextTokens: 128_000 },
  "mistral-large": { contextTokens: 131_072 },
  command: { contextTokens: 128_000 },
};
