import { createAnthropic } from "@ai-sdk/anthropic";
import type { Provider, ProviderOptions } from "./provider.ts";

/** Anthropic's messages, and servers that speak them. */
export function anthropicProvider({ url, model, apiKey, headers, fetch }: ProviderOptions): Provider {
  // Without a key the SDK looks for one in the environment.
  const provider = createAnthropic({ baseURL: url.href, apiKey: apiKey ?? "none", headers, fetch });
  return {
    protocol: "anthropic",
    languageModel: provider(model),
    // Arguments are shown to nobody while they come, so nothing is gained by those that the maker has not checked.
    options: () => ({ anthropic: { toolStreaming: false } }),
    describe: ({ description }, parameters) => ({ description, parameters }),
  };
}
