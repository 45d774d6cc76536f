import type { ResultSize } from "@rockbot/contracts";

/** From when on a tool's result is too large for a model, and how it is then kept. */
export interface SizeBounds {
  /** The threshold in characters. A result of more is chunked. */
  readonly threshold: number;
  /** The most characters of a chunk. */
  readonly chunkLength: number;
  readonly ttlMs: number;
  /**
   * True to name the chunks of a call with a `url` after it, so that reading it again replaces them.
   * @default false
   */
  readonly isOfUrl?: boolean | undefined;
}

/** The bounds of a model, and those of single tools. */
export interface SizeBoundsOptions {
  /** The model's, in characters. @default 64_000 */
  readonly threshold?: number | undefined;
  /** Bounds of tools, by name, in place of those that the tools declare. */
  readonly tools?: Readonly<Record<string, SizeBounds>> | undefined;
}

const DEFAULT_THRESHOLD = 64_000;
/** How long results are kept whose tool says nothing. */
export const TTL_MS = 20 * 60_000;

/** The bounds of one tool's results, of which it may have declared some itself. */
export type SizeBoundsOf = (toolName: string, declared?: ResultSize) => SizeBounds;

/**
 * The bounds of each tool's results for a model. No result and no chunk may be larger than what the model takes, so
 * that one call reads a chunk.
 */
export function sizeBounds({ threshold = DEFAULT_THRESHOLD, tools = {} }: SizeBoundsOptions = {}): SizeBoundsOf {
  const ofTools = new Map(Object.entries(tools));
  const ofModel = { threshold, chunkLength: threshold, ttlMs: TTL_MS };
  return (toolName, declared) => {
    const own = ofTools.get(toolName) ?? (declared && boundsOf(declared));
    if (own === undefined) return ofModel;
    const most = Math.min(own.threshold, threshold);
    return { ...own, threshold: most, chunkLength: Math.min(own.chunkLength, most) };
  };
}

const boundsOf = ({ threshold, chunkLength, keptSeconds, key }: ResultSize): SizeBounds => ({
  threshold,
  chunkLength,
  ttlMs: keptSeconds * 1_000,
  isOfUrl: key === "url",
});
