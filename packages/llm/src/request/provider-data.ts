import type { SharedV4ProviderMetadata, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ProviderData } from "../model.ts";

/** What a model wants back with an answer of its own. */
export interface ReadProviderData {
  readonly reasoning: readonly { readonly text: string; readonly options?: SharedV4ProviderOptions }[];
  /** By the index of the call. */
  readonly calls: readonly (SharedV4ProviderOptions | null)[];
}

/** More thoughts than this, in characters, are not kept unless they are signed. */
const MOST_REASONING = 256 * 1024;

/** @returns undefined if there is nothing to hand back */
export function writeProviderData(
  reasoning: readonly { readonly text: string; readonly metadata?: SharedV4ProviderMetadata | undefined }[],
  calls: readonly (SharedV4ProviderMetadata | undefined)[],
): ProviderData | undefined {
  const length = reasoning.reduce((sum, { text }) => sum + text.length, 0);
  const kept = reasoning
    .filter(({ text, metadata }) => metadata !== undefined || (text !== "" && length <= MOST_REASONING))
    .map(({ text, metadata }) => ({ text, ...(metadata !== undefined && { options: metadata }) }));
  const hasCalls = calls.some((metadata) => metadata !== undefined);
  if (kept.length === 0 && !hasCalls) return undefined;
  return {
    ...(kept.length > 0 && { reasoning: kept }),
    ...(hasCalls && { calls: calls.map((metadata) => metadata ?? null) }),
  };
}

/** Data of another form, as another version may have stored it, counts as none. */
export function readProviderData(data: ProviderData | undefined): ReadProviderData {
  const { reasoning, calls } = (data ?? {}) as Partial<ReadProviderData>;
  return {
    reasoning: Array.isArray(reasoning) ? reasoning.filter((part) => typeof part?.text === "string") : [],
    calls: Array.isArray(calls) ? calls : [],
  };
}
