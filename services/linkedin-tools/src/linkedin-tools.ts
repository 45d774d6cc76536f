import type { Bus } from "@rockbot/bus";
import { type RunningToolSet, startToolSet } from "@rockbot/process/tool-set";
import type { StartServiceOptions } from "@rockbot/tools";
import type { LinkedinToolsConfig } from "./generated/config.ts";
import { linkedinToolSet } from "./linkedin-tool-set.ts";

/** Serves the job tools of LinkedIn from the bus. Disposal waits for running calls, at most `shutdownGraceMs`. */
export async function startLinkedinTools(
  bus: Bus,
  config: Readonly<LinkedinToolsConfig>,
  options: StartServiceOptions,
): Promise<RunningToolSet> {
  return await startToolSet(bus, linkedinToolSet(config), config, options);
}
