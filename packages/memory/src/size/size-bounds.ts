import type { ResultSize } from "@rockbot/contracts";

/** From when on a tool's result is too large for a model, and how it is then kept. */
export interface SizeBounds {
  /** In characters. A result of more is chunked. */
  readonly threshold: number;
  /** The most characters of a chunk. */
  readonly chunkLength: number;
  readonly ttlMs: number;
  /** Whether the chunks of a call with a `url` are named after that, so that reading it again replaces them. @default false */
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
/** Chunks of a result are at least as large, as each costs a call to read; a tool's own size may be smaller. */
const MIN_CHUNK_LENGTH = 20_000;
const TTL_MS = 20 * 60_000;

/** The bounds of one tool's results, of which it may have declared some itself. */
export type SizeBoundsOf = (toolName: string, declared?: ResultSize) => SizeBounds;

/** The bounds of each tool's results for a model. No result may be larger than what the model takes. */
export function sizeBounds({ threshold = DEFAULT_THRESHOLD, tools = {} }: SizeBoundsOptions = {}): SizeBoundsOf {
  const ofTools = new Map(Object.entries(tools));
  const ofModel = { threshold, chunkLength: Math.max(threshold, MIN_CHUNK_LENGTH), ttlMs: TTL_MS };
  return (toolName, declared) => {
    const own = ofTools.get(toolName) ?? (declared && boundsOf(declared));
    return own === undefined ? ofModel : { ...own, threshold: Math.min(own.threshold, threshold) };
  };
}

const boundsOf = ({ threshold, chunkLength, keptSeconds, key }: ResultSize): SizeBounds => ({
  threshold,
  chunkLength,
  ttlMs: keptSeconds * 1_000,
  isOfUrl: key === "url",
});
