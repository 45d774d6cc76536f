import type { Bus } from "@rockbot/bus";
import { type RunningToolSet, startToolSet } from "@rockbot/process/tool-set";
import type { StartServiceOptions } from "@rockbot/tools";
import { anthropicToolSet } from "./anthropic-tool-set.ts";
import type { AnthropicToolsConfig } from "./generated/config.ts";

/**
 * Serves the tools of an Anthropic organization from the bus. Disposal waits for running calls, at most
 * `shutdownGraceMs`.
 */
export async function startAnthropicTools(
  bus: Bus,
  config: Readonly<AnthropicToolsConfig>,
  options: StartServiceOptions,
): Promise<RunningToolSet> {
  return await startToolSet(bus, anthropicToolSet(config), config, options);
}
