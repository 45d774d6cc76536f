/** From when on a tool's result is too large for a model, and how it is then kept. */
export interface SizeBounds {
  /** In characters. A result of more is chunked. */
  readonly threshold: number;
  /** The most characters of a chunk. */
  readonly chunkLength: number;
  readonly ttlMs: number;
}

/** The bounds of a model, and those of single tools. */
export interface SizeBoundsOptions {
  /** The model's, in characters. @default 64_000 */
  readonly threshold?: number | undefined;
  /** Bounds of tools, by name, beside those of the web tools. */
  readonly tools?: Readonly<Record<string, SizeBounds>> | undefined;
}

const DEFAULT_THRESHOLD = 64_000;
/** Chunks of a result are at least as large, as each costs a call to read; a tool's own size may be smaller. */
const MIN_CHUNK_LENGTH = 20_000;
const TTL_MS = 20 * 60_000;

const webTools: SizeBounds = { threshold: 8_000, chunkLength: 4_000, ttlMs: 30 * 60_000 };
const ownBounds: Readonly<Record<string, SizeBounds>> = { web_browse: webTools, web_search: webTools };

/** The bounds of each tool's results for a model. No result may be larger than what the model takes. */
export function sizeBounds({ threshold = DEFAULT_THRESHOLD, tools = {} }: SizeBoundsOptions = {}): (toolName: string) => SizeBounds {
  const ofTools = new Map(Object.entries({ ...ownBounds, ...tools }));
  const ofModel = { threshold, chunkLength: Math.max(threshold, MIN_CHUNK_LENGTH), ttlMs: TTL_MS };
  return (toolName) => {
    const own = ofTools.get(toolName);
    return own === undefined ? ofModel : { ...own, threshold: Math.min(own.threshold, threshold) };
  };
}
