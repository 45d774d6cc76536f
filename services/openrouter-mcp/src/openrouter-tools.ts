import type { ServedTool } from "@rockbot/mcp/standalone";
import type { OpenRouterApi } from "./openrouter-api.ts";
import { rememberBriefly } from "./remember-briefly.ts";

export interface OpenRouterToolsOptions {
  /** For how long a list of models is given again. */
  readonly modelsCacheMs: number;
}

const NO_ARGUMENTS = { type: "object", additionalProperties: false, properties: {} } as const;
/** Such ids stand in a URL as they are, and none of them is a way to another path. */
const ID = { type: "string", pattern: "^[A-Za-z0-9_-]{1,200}$" } as const;

/** The facts that the account gives of itself. Each result is the API's JSON. */
export function openRouterTools(api: OpenRouterApi, { modelsCacheMs }: OpenRouterToolsOptions): readonly ServedTool[] {
  const models = rememberBriefly(modelsCacheMs, () =>
    api.get("models", "the list of models", new AbortController().signal),
  );
  return [
    reading(
      "get_credits",
      "Credits that the OpenRouter account has bought and used. What is left is the difference. Needs a management key.",
      NO_ARGUMENTS,
      (_, signal) => api.get("credits", "the credits", signal),
    ),
    reading(
      "get_api_key_info",
      "Limits and usage of the OpenRouter API key that is in use here.",
      NO_ARGUMENTS,
      (_, signal) => api.get("key", "what is known of the key", signal),
    ),
    reading(
      "list_models",
      "All models of OpenRouter with their context lengths and prices in dollars a token. A long list, at most some minutes old.",
      NO_ARGUMENTS,
      () => models(),
    ),
    reading(
      "list_api_keys",
      "The API keys of the OpenRouter account with their limits and usage, at most 100 at once, the newest first. Needs a management key.",
      {
        type: "object",
        additionalProperties: false,
        properties: {
          offset: {
            type: "integer",
            minimum: 0,
            description: "How many keys to leave out, for those after the first 100.",
          },
        },
      },
      ({ offset = 0 }, signal) => api.get(`keys?offset=${offset}`, "the list of keys", signal),
    ),
    reading(
      "get_api_key",
      "One API key of the OpenRouter account by its hash. Needs a management key.",
      {
        type: "object",
        additionalProperties: false,
        required: ["keyHash"],
        properties: { keyHash: { ...ID, description: "The hash, as list_api_keys gives it." } },
      },
      ({ keyHash }, signal) => api.get(`keys/${keyHash}`, `the key "${keyHash}"`, signal),
    ),
    reading(
      "get_generation",
      "What one completion of OpenRouter was and cost: model, tokens, dollars, time.",
      {
        type: "object",
        additionalProperties: false,
        required: ["generationId"],
        properties: {
          generationId: { ...ID, description: "The id that came with the completion, such as gen-1234567890." },
        },
      },
      ({ generationId }, signal) =>
        api.get(`generation?id=${generationId}`, `the generation "${generationId}"`, signal),
    ),
  ];
}

const reading = (
  name: string,
  description: string,
  inputSchema: ServedTool["inputSchema"],
  run: (args: Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<string>,
): ServedTool => ({ name, description, inputSchema, isReadOnly: true, run: (args, { signal }) => run(args, signal) });
