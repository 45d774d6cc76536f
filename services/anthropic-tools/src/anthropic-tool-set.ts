import type { ToolGuide } from "@rockbot/contracts";
import { createPublicFetch, hostAndPort } from "@rockbot/edge/outbound";
import type { OwnedToolSet } from "@rockbot/process/tool-set";
import type { AnthropicToolsConfig } from "./generated/config.ts";
import { anthropicUsage } from "./tools/anthropic-usage.ts";

const MAX_PAGE_BYTES = 8_000_000;

/** The tools that `config` allows: without a key there is none, as a tool that can only fail misleads a model. */
export function anthropicToolSet(config: Readonly<AnthropicToolsConfig>): OwnedToolSet {
  const { anthropicAdminApiKey: apiKey, anthropicBaseUrl: baseUrl, fetchTimeoutMs: timeoutMs } = config;
  // The operator names the API's address, so it may be private.
  const fetch = createPublicFetch({
    allowAddresses: [hostAndPort(baseUrl)],
    allowPorts: [],
    maxBytes: MAX_PAGE_BYTES,
    timeoutMs,
    idleTimeoutMs: timeoutMs,
  });
  return {
    tools: apiKey === undefined ? [] : [anthropicUsage({ apiKey, baseUrl, fetch })],
    guides: apiKey === undefined ? [] : [guide],
    off:
      apiKey === undefined
        ? [{ tool: "anthropic_usage", reason: "It needs an Admin API key of Anthropic: set ANTHROPIC_ADMIN_API_KEY." }]
        : [],
    [Symbol.asyncDispose]: () => fetch[Symbol.asyncDispose](),
  };
}

const guide: ToolGuide = {
  name: "anthropic-tools",
  summary: "Report tokens, costs and Claude Code activity of the organization with anthropic_usage.",
  document: [
    "# Usage of Anthropic's API",
    "",
    "`anthropic_usage` reads one of three reports. Times are in UTC, and the end is not included.",
    "",
    "| report | rows | split by |",
    "|---|---|---|",
    "| `usage` | tokens and web searches in each day, hour or minute | `api_key_id`, `workspace_id`, `model`, `service_tier`, `context_window` |",
    "| `cost` | US dollars of each day | `workspace_id`, `description` |",
    "| `claude_code` | sessions, lines, commits and estimated costs of each person and day | nothing |",
    "",
    "The last row has the sums. For questions about money ask for `cost`: tokens have different prices. Figures of the last five minutes may be missing.",
    "Ask for a shorter time or fewer groups if the answer is `too_large`.",
    "",
  ].join("\n"),
};
