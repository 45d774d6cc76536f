import type { ModelBehaviors } from "./model-behavior.ts";

/** What we know of families of models. */
export const DEFAULT_BEHAVIORS: ModelBehaviors = {
  // https://docs.anthropic.com/en/docs/about-claude/models/overview: 200K tokens. 25 iterations are what the .NET original ships.
  claude: { contextTokens: 200_000, maxIterations: 25 },
};
