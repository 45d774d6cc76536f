import type { Bus } from "@rockbot/bus";
import type { PolicyHolder, Readers } from "@rockbot/policy";
import { type RunningToolSet, startToolSet } from "@rockbot/process/tool-set";
import type { LeaseStore } from "@rockbot/records/leases";
import type { StartServiceOptions } from "@rockbot/tools";
import type { GoogleToolsConfig } from "./generated/config.ts";
import { googleToolSet } from "./google-tool-set.ts";

/** The parts of the process that the service uses. */
export interface StartGoogleToolsOptions extends StartServiceOptions {
  readonly policy?: PolicyHolder<Readers<"credentials">> | undefined;
  readonly leases?: LeaseStore | undefined;
}

/** Serves Gmail and Google Calendar from the bus. Disposal waits for running calls, at most `shutdownGraceMs`. */
export async function startGoogleTools(
  bus: Bus,
  config: Readonly<GoogleToolsConfig>,
  { leases, ...options }: StartGoogleToolsOptions,
): Promise<RunningToolSet> {
  return await startToolSet(bus, googleToolSet(config, { policy: options.policy, leases }), config, options);
}
