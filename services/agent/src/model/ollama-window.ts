import type { ModelBehaviors } from "@rockbot/llm";
import type { ChosenModel } from "./choose-model.ts";

/** What Ollama gives a model that nothing says more for, in tokens. It cuts the rest of a request without an error. */
const DEFAULT_TOKENS = 4_096;
/** Below this, a conversation with tools has little room. */
const SMALL_TOKENS = 16_384;
const OLLAMA_PORT = "11434";
const ANSWER_MS = 2_000;

export interface OllamaWindow {
  readonly tokens: number;
  /** A warning, where that is little. */
  readonly warning: string | undefined;
}

/** The room that an Ollama gives the model; undefined for another server, and where `own` says how much there is. */
export async function ollamaWindow(
  { url, model, isFound }: ChosenModel,
  own: ModelBehaviors,
  signal?: AbortSignal,
): Promise<OllamaWindow | undefined> {
  const base = new URL(url);
  const names = [model, model.slice(model.lastIndexOf("/") + 1)].map((name) => name.toLowerCase());
  const isSaid = Object.entries(own).some(
    ([of, says]) => says.contextTokens !== undefined && names.some((name) => name.startsWith(of.toLowerCase())),
  );
  if (isSaid || !(isFound || base.port === OLLAMA_PORT)) return undefined;
  const ask = async (path: string, body?: object): Promise<Answer> => {
    const timeout = AbortSignal.timeout(ANSWER_MS);
    const init = {
      redirect: "error",
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    } as const;
    const sent =
      body === undefined
        ? init
        : { ...init, method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    return (await (await fetch(new URL(path, base), sent)).json()) as Answer;
  };
  const [running, shown] = await Promise.all(
    [ask("/api/ps"), ask("/api/show", { model })].map((asked) => asked.catch((): Answer => ({}))),
  );
  signal?.throwIfAborted();
  const loaded = running?.models?.find(({ name }) => name === model || name === `${model}:latest`)?.context_length;
  const made = /^num_ctx\s+(\d+)/m.exec(String(shown?.parameters ?? ""))?.[1];
  const tokens = loaded ?? (made === undefined ? DEFAULT_TOKENS : Number(made));
  const warning =
    `Ollama gives ${model} ${loaded === undefined && made === undefined ? "by default " : ""}${tokens} tokens, and cuts what is longer without an error. ` +
    "Start it with OLLAMA_CONTEXT_LENGTH=32768, and say contextTokens: 32768 in MODEL_BEHAVIORS";
  return { tokens, warning: tokens < SMALL_TOKENS ? warning : undefined };
}

/** The same of several models at one place, by their names. */
export async function ollamaWindows(
  chosen: ChosenModel,
  names: readonly string[],
  own: ModelBehaviors,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, OllamaWindow | undefined>> {
  const asked = names.map(async (model) => [model, await ollamaWindow({ ...chosen, model }, own, signal)] as const);
  return new Map(await Promise.all(asked));
}

interface Answer {
  readonly models?: readonly { readonly name?: string; readonly context_length?: number }[];
  readonly parameters?: unknown;
}
