import { DEFAULT_BEHAVIORS } from "./default-behaviors.ts";
import type { ModelBehavior, ModelBehaviors } from "./model-behavior.ts";

const COMMON: ModelBehavior = {
  chunkingThreshold: 64_000,
  contextTokens: 128_000,
  maxIterations: 12,
  usesTextToolCalls: false,
  nudgesOnProse: false,
  returnsReasoning: false,
};

/**
 * A model's behaviour: ours for its family, and over it, field by field, what `own` says. In each, an entry of exactly the model's name counts, else
 * the longest that the name begins with, ignoring case. A name after a maker's ("anthropic/claude…") is looked for with and without it.
 */
export function behaviorOf(model: string, own: ModelBehaviors = {}): ModelBehavior {
  const ours = entryOf(model, DEFAULT_BEHAVIORS);
  const theirs = entryOf(model, own);
  const nudgesOnProse = ours === undefined && theirs === undefined;
  return Object.freeze({ ...COMMON, nudgesOnProse, ...ours, ...theirs });
}

function entryOf(model: string, behaviors: ModelBehaviors): Partial<ModelBehavior> | undefined {
  const names = [model, model.slice(model.lastIndexOf("/") + 1)];
  for (const name of names) {
    if (Object.hasOwn(behaviors, name)) return behaviors[name];
    const prefixes = Object.keys(behaviors).filter((key) => name.toLowerCase().startsWith(key.toLowerCase()));
    const longest = prefixes.reduce<string | undefined>((best, key) => (best === undefined || key.length > best.length ? key : best), undefined);
    if (longest !== undefined) return behaviors[longest];
  }
  return undefined;
}
