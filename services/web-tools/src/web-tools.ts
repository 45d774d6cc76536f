import type { Bus } from "@rockbot/bus";
import type { PageStore } from "@rockbot/edge/outbound";
import { type RunningToolSet, startToolSet } from "@rockbot/process/tool-set";
import type { StartServiceOptions } from "@rockbot/tools";
import type { WebToolsConfig } from "./generated/config.ts";
import { webToolSet } from "./web-tool-set.ts";

/** The parts of the process that the service uses. */
export interface StartWebToolsOptions extends StartServiceOptions {
  /** Keeps pages for all instances. @default each keeps its own */
  readonly pageStore?: PageStore | undefined;
}

/**
 * Serves the web tools from the bus. Disposal waits for running calls, at most `shutdownGraceMs`.
 * @throws {RangeError} if an exception of `allowAddresses` cannot be read
 */
export async function startWebTools(bus: Bus, config: Readonly<WebToolsConfig>, { pageStore, ...options }: StartWebToolsOptions): Promise<RunningToolSet> {
  return await startToolSet(bus, webToolSet(config, { policy: options.policy, pageStore }), config, options);
}
