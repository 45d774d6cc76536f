import type { AnthropicToolsConfig } from "./generated/config.ts";

/** For `rockbot doctor`: whether there is a key for anthropic_usage. */
export function examine({ anthropicAdminApiKey }: Readonly<AnthropicToolsConfig>) {
  const isSet = anthropicAdminApiKey !== undefined;
  const message = isSet ? "set" : "not set, so anthropic_usage is off. An Admin API key comes from the Claude Console";
  return [{ what: "ANTHROPIC_ADMIN_API_KEY", state: isSet ? "ok" : "off", message } as const];
}
