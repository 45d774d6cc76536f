/** An Ollama that answers, and a model of it. */
export interface FoundOllama {
  /** The base of its OpenAI-compatible API. */
  readonly url: string;
  readonly model: string;
}

/** A program on this machine answers at once, or is not there. */
const PROBE_MS = 500;
const MAX_LIST_BYTES = 1_000_000;

/**
 * Asks an Ollama which models it has.
 * @param wanted the name of one; its newest if undefined
 * @returns why there is none, in words, if it does not answer or does not have it
 */
export async function findOllama(
  base: string,
  wanted: string | undefined,
  signal?: AbortSignal,
): Promise<FoundOllama | string> {
  const names = await readNames(base, signal);
  if (typeof names === "string") return names;
  const model = wanted === undefined ? names[0] : names.find((name) => name === wanted || name === `${wanted}:latest`);
  if (model !== undefined) return { url: `${base}/v1`, model };
  return wanted === undefined
    ? `the Ollama at ${base} has no models`
    : `the Ollama at ${base} has no model "${wanted}"`;
}

/** The newest first, as Ollama lists them. */
async function readNames(base: string, signal: AbortSignal | undefined): Promise<readonly string[] | string> {
  const timeout = AbortSignal.timeout(PROBE_MS);
  try {
    const response = await fetch(`${base}/api/tags`, {
      redirect: "error",
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    if (Number(response.headers.get("content-length") ?? 0) > MAX_LIST_BYTES)
      return `the server at ${base} is not an Ollama`;
    const { models } = (await response.json()) as { readonly models?: unknown };
    if (!response.ok || !Array.isArray(models)) return `the server at ${base} is not an Ollama`;
    return models.flatMap(({ name }: { readonly name?: unknown }) => (typeof name === "string" ? [name] : []));
  } catch (error) {
    signal?.throwIfAborted();
    return error instanceof SyntaxError ? `the server at ${base} is not an Ollama` : `no Ollama answers at ${base}`;
  }
}
