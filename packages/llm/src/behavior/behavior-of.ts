import { DEFAULT_BEHAVIORS } from "./default-behaviors.ts";
import type { ModelBehavior, ModelBehaviors } from "./model-behavior.ts";

/** A character for each token of the window, at most: then a quarter of it, or less, is one result. */
const CHUNKING_THRESHOLD = 64_000;
const COMMON: Omit<ModelBehavior, "chunkingThreshold"> = {
  contextTokens: 128_000,
  maxIterations: 12,
  usesTextToolCalls: false,
  nudgesOnProse: false,
  returnsReasoning: false,
};

/**
 * A model's behaviour: ours for its family, and over it, field by field, what `own` says. In each, an entry of exactly
 * the model's name counts, else the longest that the name begins with, ignoring case. A name after a maker's
 * ("anthropic/claude…") is looked for with and without it.
 * @param window the tokens that its server gives it, where that is known
 */
export function behaviorOf(model: string, own: ModelBehaviors = {}, window?: number): ModelBehavior {
  const ours = entryOf(model, DEFAULT_BEHAVIORS);
  const theirs = entryOf(model, own);
  const nudgesOnProse = ours === undefined && theirs === undefined;
  const said = { ...COMMON, nudgesOnProse, ...ours, ...theirs, ...(window !== undefined && { contextTokens: window }) };
  return Object.freeze({ chunkingThreshold: Math.min(CHUNKING_THRESHOLD, said.contextTokens), ...said });
}

function entryOf(model: string, behaviors: ModelBehaviors): Partial<ModelBehavior> | undefined {
  const names = [model, model.slice(model.lastIndexOf("/") + 1)];
  for (const name of names) {
    if (Object.hasOwn(behaviors, name)) return behaviors[name];
    const prefixes = Object.keys(behaviors).filter((key) => name.toLowerCase().startsWith(key.toLowerCase()));
    const longest = prefixes.reduce<string | undefined>(
      (best, key) => (best === undefined || key.length > best.length ? key : best),
      undefined,
    );
    if (longest !== undefined) return behaviors[longest];
  }
  return undefined;
}
